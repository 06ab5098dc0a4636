//! Keeps the beginning and the end of a stream in constant memory.

use selfheal_core::run::Capture;

/// The most that is kept of each end, whatever was asked for.
const MOST: usize = 4 << 20;

/// The bounded memory of a stream while it runs.
#[derive(Debug)]
pub(crate) struct Keeper {
    keep: usize,
    head: Vec<u8>,
    /// A ring once it is full: the oldest byte is at `oldest`.
    tail: Vec<u8>,
    oldest: usize,
    total: u64,
}

impl Keeper {
    /// Keeps so many bytes of each end.
    pub(crate) fn new(keep: usize) -> Self {
        Self { keep: keep.min(MOST), head: Vec::new(), tail: Vec::new(), oldest: 0, total: 0 }
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.keep - self.head.len()));
        self.head.extend_from_slice(first);
        // What lies before the last `keep` bytes would be overwritten at once.
        let rest = rest.get(rest.len().saturating_sub(self.keep)..).unwrap_or_default();
        let (grow, wrap) = rest.split_at(rest.len().min(self.keep - self.tail.len()));
        self.tail.extend_from_slice(grow);
        self.overwrite(wrap);
    }

    fn overwrite(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let Some(room) = self.tail.get_mut(self.oldest..) else { return };
            let (now, later) = bytes.split_at(bytes.len().min(room.len()));
            room.iter_mut().zip(now).for_each(|(to, from)| *to = *from);
            self.oldest = (self.oldest + now.len()) % self.tail.len();
            bytes = later;
        }
    }

    /// At most so many of the last bytes.
    pub(crate) fn last(&self, count: usize) -> Vec<u8> {
        let (newer, older) = self.tail.split_at(self.oldest.min(self.tail.len()));
        // What lies between the two ends is not kept.
        let whole = self.total == (self.head.len() + self.tail.len()) as u64;
        let head = if whole { self.head.as_slice() } else { &[] };
        let all = head.iter().chain(older).chain(newer);
        let skip = (head.len() + self.tail.len()).saturating_sub(count);
        all.skip(skip).copied().collect()
    }

    /// What was kept.
    pub(crate) fn finish(mut self) -> Capture {
        self.tail.rotate_left(self.oldest);
        Capture { head: self.head, tail: self.tail, total: self.total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_every_size_give_the_same_ends() {
        let stream: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for keep in [0, 1, 7, 100, 499, 500, 501, 2000] {
            for chunk in [1, 3, 64, 100, 999, 1000] {
                let mut keeper = Keeper::new(keep);
                stream.chunks(chunk).for_each(|part| keeper.push(part));
                let last = keeper.last(20);
                let capture = keeper.finish();
                let head = keep.min(1000);
                let tail = keep.min(1000 - head);
                assert_eq!(capture.head, stream[..head], "keep {keep} chunk {chunk}");
                assert_eq!(capture.tail, stream[1000 - tail..], "keep {keep} chunk {chunk}");
                assert_eq!(capture.total, 1000);
                assert_eq!(last, stream[1000 - last.len()..], "keep {keep} chunk {chunk}");
                let connected = if head + tail == 1000 { 1000 } else { tail };
                assert_eq!(last.len(), connected.min(20), "keep {keep} chunk {chunk}");
            }
        }
    }
}
