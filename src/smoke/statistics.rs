//! The arithmetic of the figures.

use std::time::Duration;

/// The median of `samples`, which are reordered: the mean of the two middle ones for an even count.
/// None without samples.
pub(crate) fn median(samples: &mut [Duration]) -> Option<Duration> {
    let count = samples.len();
    if count == 0 {
        return None;
    }
    let (lower, upper_middle, _) = samples.select_nth_unstable(count / 2);
    let upper_middle = *upper_middle;
    if count % 2 == 1 {
        return Some(upper_middle);
    }
    lower.iter().max().map(|lower_middle| (*lower_middle + upper_middle) / 2)
}

/// Payload over time in 10^9 bits per second. Zero without time.
pub(crate) fn gbit_per_s(bytes: u64, duration: Duration) -> f64 {
    let seconds = duration.as_secs_f64();
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds / 1e9 } else { 0.0 }
}

/// A duration in microseconds.
pub(crate) fn microseconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ns(values: &[u64]) -> Vec<Duration> {
        values.iter().copied().map(Duration::from_nanos).collect()
    }

    #[test]
    fn the_median_is_the_middle_sample_or_the_mean_of_the_two() {
        assert_eq!(median(&mut ns(&[])), None);
        assert_eq!(median(&mut ns(&[7])), Some(Duration::from_nanos(7)));
        assert_eq!(median(&mut ns(&[9, 1, 5])), Some(Duration::from_nanos(5)));
        assert_eq!(median(&mut ns(&[9, 1, 5, 100])), Some(Duration::from_nanos(7)));
    }

    #[test]
    fn bandwidth_counts_payload_bits_in_powers_of_ten() {
        assert_eq!(gbit_per_s(12_500_000_000, Duration::from_secs(1)), 100.0);
        assert_eq!(gbit_per_s(1, Duration::ZERO), 0.0);
    }

    proptest! {
        #[test]
        fn the_median_is_that_of_the_sorted_samples(mut values in proptest::collection::vec(0_u64..1 << 40, 1..200)) {
            let found = median(&mut ns(&values));
            values.sort_unstable();
            let middle = values.len() / 2;
            let exact = if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2 };
            prop_assert_eq!(found, Some(Duration::from_nanos(exact)));
        }
    }
}
