//! Moving and timing data over a connection.

use std::time::{Duration, Instant};

use super::patience::{Look, Patience};
use super::session::QUEUE_DEPTH;
use super::trouble::Trouble;
use super::wire::Wire;
use crate::verbs::{MemoryRegion, QueuePair, Reason, RemoteMemory, Transfer, VerbsError};

/// One end of a connection with its memory, of which the first half is sent from and the second
/// received into.
pub(crate) struct Lane<'a> {
    pub(crate) queue: &'a QueuePair,
    pub(crate) memory: &'a MemoryRegion,
    pub(crate) remote: RemoteMemory,
    pub(crate) half: u32,
    pub(crate) deadline: Instant,
    pub(crate) wire: &'a mut Wire,
    /// Operations posted and not completed.
    outstanding: u32,
}

impl<'a> Lane<'a> {
    pub(crate) fn new(
        queue: &'a QueuePair,
        memory: &'a MemoryRegion,
        remote: RemoteMemory,
        deadline: Instant,
        wire: &'a mut Wire,
    ) -> Self {
        Self { queue, memory, remote, half: remote.length / 2, deadline, wire, outstanding: 0 }
    }

    /// Round trips of `size` bytes by RDMA write until `budget` is spent or `most` are done; half
    /// of each is a sample.
    ///
    /// The last byte of a message carries the count, so each answer is that of its own question,
    /// and says which message is the last.
    pub(crate) fn ping(
        &mut self,
        size: u32,
        most: u32,
        budget: Duration,
    ) -> Result<Vec<Duration>, Trouble> {
        let tail = size as usize - 1;
        let mut samples = Vec::with_capacity(most as usize);
        let begin = Instant::now();
        for index in 0..most {
            self.make_room()?;
            let start = Instant::now();
            let is_last = index + 1 == most || start - begin >= budget;
            let count = if is_last { LAST } else { counted(index) };
            self.memory.set_byte(tail, count);
            self.write(0, self.half, size)?;
            self.wait_for_byte(tail, &[count], "write-lat", size)?;
            samples.push(start.elapsed() / 2);
            if is_last {
                break;
            }
        }
        self.drain("write-lat", size)?;
        Ok(samples)
    }

    /// The other side of [`Lane::ping`].
    pub(crate) fn pong(&mut self, size: u32) -> Result<(), Trouble> {
        let tail = size as usize - 1;
        for index in 0.. {
            let count = self.wait_for_byte(tail, &[counted(index), LAST], "write-lat", size)?;
            self.make_room()?;
            self.memory.set_byte(tail, count);
            self.write(0, self.half, size)?;
            if count == LAST {
                break;
            }
        }
        self.drain("write-lat", size)
    }

    /// RDMA reads of `size` bytes, one at a time, until `budget` is spent or `most` are done; each
    /// must bring the peer's last byte, `expected`.
    pub(crate) fn read_one_by_one(
        &mut self,
        size: u32,
        most: u32,
        budget: Duration,
        expected: u8,
    ) -> Result<Vec<Duration>, Trouble> {
        let tail = (self.half + size) as usize - 1;
        let mut samples = Vec::with_capacity(most as usize);
        let begin = Instant::now();
        for index in 0..most {
            if index > 0 && begin.elapsed() >= budget {
                break;
            }
            self.memory.set_byte(tail, !expected);
            let start = Instant::now();
            self.read(self.half, 0, size)?;
            self.drain("read-lat", size)?;
            samples.push(start.elapsed());
            let found = self.memory.byte(tail);
            if found != expected {
                return Err(Trouble::Wrong(format!(
                    "read {index} of {size} bytes: byte {} is {found:#04x}, expected {expected:#04x}",
                    size - 1
                )));
            }
        }
        Ok(samples)
    }

    /// Transfers of `size` bytes with `depth` outstanding for `budget`; operations and the time
    /// until the last byte is in its memory.
    pub(crate) fn stream(
        &mut self,
        transfer: Transfer,
        size: u32,
        depth: u32,
        budget: Duration,
    ) -> Result<(u64, Duration), Trouble> {
        let what = match transfer {
            Transfer::Write => "write-bw",
            Transfer::Read => "read-bw",
        };
        let mut posted: u64 = 0;
        let start = Instant::now();
        while posted < u64::from(depth) || start.elapsed() < budget {
            let slot = (posted % u64::from(depth)) as u32 * size;
            match transfer {
                Transfer::Write => self.write(slot, self.half + slot, size)?,
                Transfer::Read => self.read(self.half + slot, slot, size)?,
            }
            posted += 1;
            if self.outstanding >= depth {
                self.wait(what, size, |lane| Ok(lane.reap(what, size)? > 0))?;
            }
        }
        self.drain(what, size)?;
        if transfer == Transfer::Write {
            // A completed write may still be under way (on iWARP it is merely in the TCP stream). A
            // read is answered after every write before it, so its answer ends the measurement.
            self.read(self.half, self.half, 1)?;
            self.drain(what, size)?;
        }
        Ok((posted, start.elapsed()))
    }

    fn write(&mut self, from: u32, to: u32, size: u32) -> Result<(), VerbsError> {
        self.queue.post(Transfer::Write, (self.memory, from), (self.remote, to), size)?;
        self.outstanding += 1;
        Ok(())
    }

    fn read(&mut self, into: u32, from: u32, size: u32) -> Result<(), VerbsError> {
        self.queue.post(Transfer::Read, (self.memory, into), (self.remote, from), size)?;
        self.outstanding += 1;
        Ok(())
    }

    /// Takes completions off the queue.
    fn reap(&mut self, what: &'static str, size: u32) -> Result<u32, VerbsError> {
        let count = self
            .queue
            .completions()
            .poll(what)
            .map_err(|error| VerbsError { object: format!("{what} of {size} bytes"), ..error })?;
        self.outstanding = self.outstanding.saturating_sub(count);
        Ok(count)
    }

    /// Waits until every posted operation has completed.
    fn drain(&mut self, what: &'static str, size: u32) -> Result<(), Trouble> {
        self.wait(what, size, |lane| {
            lane.reap(what, size)?;
            Ok(lane.outstanding == 0)
        })
    }

    /// Leaves room in the queue for one more operation.
    fn make_room(&mut self) -> Result<(), Trouble> {
        if self.outstanding < u32::from(QUEUE_DEPTH) / 2 {
            Ok(())
        } else {
            self.drain("write-lat", 0)
        }
    }

    /// Waits until the peer has written one of `wanted` to the `tail` of what is received here;
    /// errors of own operations come first.
    fn wait_for_byte(
        &mut self,
        tail: usize,
        wanted: &[u8],
        what: &'static str,
        size: u32,
    ) -> Result<u8, Trouble> {
        let offset = self.half as usize + tail;
        let mut looks = 0_u32;
        let mut found = 0;
        self.wait(what, size, |lane| {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(16) && lane.outstanding > 0 {
                lane.reap(what, size)?;
            }
            found = lane.memory.byte(offset);
            Ok(wanted.contains(&found))
        })?;
        Ok(found)
    }

    /// Looks until `done`, the deadline, or the peer's end.
    fn wait(
        &mut self,
        what: &'static str,
        size: u32,
        mut done: impl FnMut(&mut Self) -> Result<bool, VerbsError>,
    ) -> Result<(), Trouble> {
        let mut patience = Patience::default();
        while !done(self)? {
            if patience.look_around(self.deadline, self.wire)? == Look::Late {
                let object = format!("{what} of {size} bytes");
                return Err(VerbsError::new("RDMA", object, Reason::Deadline).into());
            }
        }
        Ok(())
    }
}

/// The count of the last message.
const LAST: u8 = 255;

/// The count that the `index`-th message carries: never zero, which is what cleared memory holds,
/// never its predecessor's, never [`LAST`].
fn counted(index: u32) -> u8 {
    (index % 254) as u8 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_never_zero_never_the_last_and_never_its_predecessors() {
        for index in 0..1000 {
            let count = counted(index);
            assert!(count != 0 && count != LAST && count != counted(index + 1), "{index}: {count}");
        }
    }
}
