//! The data of a test: a stream that a seed determines, so that every byte at the other end can be
//! compared with what it must be.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// A number that nobody foresees: a hasher of the standard library is keyed from the system's
/// randomness.
pub(crate) fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Bytes of the stream made from one step.
const WORD: usize = 8;

/// Eight bytes of the stream (the splitmix64 sequence, which has no short periods and no zero
/// runs).
fn word(seed: u64, index: u64) -> [u8; WORD] {
    let mut z = seed.wrapping_add((index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)).to_le_bytes()
}

/// The first `length` bytes of the stream of `seed`.
pub(crate) fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut stream = vec![0; length];
    for (index, chunk) in stream.chunks_mut(WORD).enumerate() {
        chunk.copy_from_slice(&word(seed, index as u64)[..chunk.len()]);
    }
    stream
}

/// The first byte of `found` that is not the stream's, as a sentence.
pub(crate) fn mismatch(seed: u64, found: &[u8]) -> Option<String> {
    let wanted = bytes(seed, found.len());
    if wanted == found {
        return None;
    }
    let wrong =
        || wanted.iter().zip(found).enumerate().filter(|(_, (wanted, found))| wanted != found);
    let (offset, (wanted, first)) = wrong().next()?;
    Some(format!(
        "byte {offset} of {} is {first:#04x}, expected {wanted:#04x}; {} bytes differ",
        found.len(),
        wrong().count()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_data_has_no_mismatch_at_any_length() {
        for length in [0, 1, 7, 8, 9, 65_537] {
            assert_eq!(mismatch(42, &bytes(42, length)), None, "{length} bytes");
        }
    }

    #[test]
    fn one_flipped_bit_is_named_by_offset_found_and_expected() {
        let mut data = bytes(7, 4096);
        let wanted = data[1234];
        data[1234] ^= 0x10;
        let text = format!(
            "byte 1234 of 4096 is {:#04x}, expected {wanted:#04x}; 1 bytes differ",
            wanted ^ 0x10
        );
        assert_eq!(mismatch(7, &data), Some(text));
    }

    #[test]
    fn another_seed_and_all_zeroes_are_mismatches() {
        assert_ne!(mismatch(1, &bytes(2, 64)), None);
        assert_ne!(mismatch(1, &[0; 64]), None);
    }
}
