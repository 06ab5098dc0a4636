//! A picture that a model may be asked about: PNG or JPEG, of bounded size, without what cameras and programs write beside
//! the pixels (places, names, comments, thumbnails, whatever hangs behind the end).
//!
//! The pixels themselves cannot be redacted. So a picture goes only where the data of the job may go.

use std::fmt;

/// The largest file, in bytes.
pub const LARGEST: usize = 3 << 20;
/// The longest side, in pixels.
pub const LONGEST_SIDE: u32 = 10_000;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
/// The chunks that the pixels need; all others are left out.
const PNG_KEPT: [&[u8]; 7] = [b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"sRGB"];
/// Bytes of a PNG chunk beside its data: length, name, checksum.
const PNG_FRAME: usize = 12;

/// Why a file cannot be used as a picture; reads after "it".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// Neither of the two kinds.
    #[error("is neither PNG nor JPEG")]
    Unknown,
    /// Too many bytes.
    #[error("is larger than {} MiB", LARGEST >> 20)]
    TooLarge,
    /// Too many pixels.
    #[error("has a side of more than {LONGEST_SIDE} pixels")]
    TooWide,
    /// Not whole.
    #[error("is damaged or cut off")]
    Damaged,
}

/// A checked picture.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    bytes: Vec<u8>,
    kind: &'static str,
}

impl Image {
    /// Checks the bytes of a file and keeps what the pixels need.
    ///
    /// # Errors
    /// [`ImageError`].
    pub fn read(bytes: &[u8]) -> Result<Self, ImageError> {
        if bytes.len() > LARGEST {
            return Err(ImageError::TooLarge);
        }
        if bytes.starts_with(PNG) {
            return Ok(Self { bytes: png(bytes)?, kind: "image/png" });
        }
        if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
            return Ok(Self { bytes: jpeg(bytes)?, kind: "image/jpeg" });
        }
        Err(ImageError::Unknown)
    }

    /// `image/png` or `image/jpeg`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// What is left of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes in base64.
    #[must_use]
    pub fn base64(&self) -> String {
        const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::with_capacity(self.bytes.len().div_ceil(3) * 4);
        for three in self.bytes.chunks(3) {
            let bits =
                (0..3).fold(0_usize, |bits, at| bits << 8 | usize::from(three.get(at).copied().unwrap_or(0)));
            for at in 0..4_usize {
                let letter = LETTERS.get(bits >> (18 - 6 * at) & 63).copied().unwrap_or(b'=');
                out.push(if at > three.len() { '=' } else { char::from(letter) });
            }
        }
        out
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({}, {} bytes)", self.kind, self.bytes.len())
    }
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<u32> {
    let taken = bytes.get(at..at.checked_add(width)?)?;
    Some(taken.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

fn sides(width: u32, height: u32) -> Result<(), ImageError> {
    match (width, height) {
        (0, _) | (_, 0) => Err(ImageError::Damaged),
        _ if width.max(height) > LONGEST_SIDE => Err(ImageError::TooWide),
        _ => Ok(()),
    }
}

/// The chunks that are needed, up to the end mark.
fn png(bytes: &[u8]) -> Result<Vec<u8>, ImageError> {
    let damaged = ImageError::Damaged;
    let mut out = PNG.to_vec();
    let mut at = PNG.len();
    let mut seen_pixels = false;
    loop {
        let length = number(bytes, at, 4).ok_or(damaged)? as usize;
        let end = at.checked_add(PNG_FRAME).and_then(|end| end.checked_add(length)).ok_or(damaged)?;
        let chunk = bytes.get(at..end).ok_or(damaged)?;
        let name = chunk.get(4..8).ok_or(damaged)?;
        if (at == PNG.len()) != (name == b"IHDR") {
            return Err(damaged);
        }
        if name == b"IHDR" {
            let side = |at| number(chunk, at, 4).ok_or(damaged);
            sides(side(8)?, side(12)?)?;
        }
        seen_pixels |= name == b"IDAT";
        if PNG_KEPT.contains(&name) {
            out.extend_from_slice(chunk);
        }
        if name == b"IEND" {
            return if seen_pixels { Ok(out) } else { Err(damaged) };
        }
        at = end;
    }
}

/// The segments that are needed, with their data, up to the end mark.
fn jpeg(bytes: &[u8]) -> Result<Vec<u8>, ImageError> {
    let damaged = ImageError::Damaged;
    let mut out = vec![0xff, 0xd8];
    let mut at = 2;
    let (mut seen_frame, mut seen_scan) = (false, false);
    loop {
        let marker = number(bytes, at, 2).filter(|marker| marker >> 8 == 0xff).ok_or(damaged)? & 0xff;
        match marker {
            // Any number of fill bytes may stand before a marker.
            0xff => {
                at += 1;
                continue;
            }
            0xd9 if seen_frame && seen_scan => {
                out.extend_from_slice(&[0xff, 0xd9]);
                return Ok(out);
            }
            0x00..=0x01 | 0xd0..=0xd9 => return Err(damaged),
            _ => {}
        }
        let length = number(bytes, at + 2, 2).filter(|length| *length >= 2).ok_or(damaged)? as usize;
        let segment = bytes.get(at..at + 2 + length).ok_or(damaged)?;
        at += 2 + length;
        let is_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if is_frame {
            let side = |at| number(segment, at, 2).ok_or(damaged);
            sides(side(7)?, side(5)?)?;
            seen_frame = true;
        }
        // Of what programs add, only what says how colours are meant is needed.
        if !matches!(marker, 0xe1..=0xed | 0xef | 0xfe) {
            out.extend_from_slice(segment);
        }
        if marker == 0xda {
            seen_scan = true;
            let rest = bytes.get(at..).ok_or(damaged)?;
            let length = scan(rest).ok_or(damaged)?;
            out.extend_from_slice(rest.get(..length).ok_or(damaged)?);
            at += length;
        }
    }
}

/// How long the data of a scan are: up to the next marker that is neither a restart nor a stuffed byte.
fn scan(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(|two| match two {
        [0xff, next] => !matches!(next, 0x00 | 0xd0..=0xd7 | 0xff),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let mut out = u32::try_from(data.len()).unwrap().to_be_bytes().to_vec();
        out.extend_from_slice(name);
        out.extend_from_slice(data);
        out.extend_from_slice(&[0; 4]);
        out
    }

    fn header(width: u32, height: u32) -> Vec<u8> {
        let mut data = width.to_be_bytes().to_vec();
        data.extend_from_slice(&height.to_be_bytes());
        data.extend_from_slice(&[8, 2, 0, 0, 0]);
        chunk(b"IHDR", &data)
    }

    fn a_png(width: u32, more: &[u8]) -> Vec<u8> {
        [PNG, &header(width, 1), more, &chunk(b"IDAT", b"pixels"), &chunk(b"IEND", b"")].concat()
    }

    fn segment(marker: u8, data: &[u8]) -> Vec<u8> {
        let length = u16::try_from(data.len() + 2).unwrap().to_be_bytes();
        [&[0xff, marker], length.as_slice(), data].concat()
    }

    fn a_jpeg(more: &[u8]) -> Vec<u8> {
        let frame = segment(0xc0, &[8, 0, 1, 0, 1, 1, 1, 0x11, 0]);
        let scan = [segment(0xda, &[1, 1, 0, 0, 63, 0]), vec![1, 0xff, 0, 2, 0xff, 0xd0, 3]].concat();
        [&[0xff, 0xd8], more, &frame, &scan, &[0xff, 0xd9]].concat()
    }

    #[test]
    fn what_stands_beside_the_pixels_is_left_out() {
        let text = chunk(b"tEXt", b"Author\0somebody");
        let image = Image::read(&[a_png(1, &text), b"behind".to_vec()].concat()).unwrap();
        assert_eq!((image.kind(), image.bytes()), ("image/png", a_png(1, b"").as_slice()));
        let beside = [segment(0xe1, b"Exif\0\0GPS"), segment(0xfe, b"a comment")].concat();
        let image = Image::read(&[a_jpeg(&beside), b"behind".to_vec()].concat()).unwrap();
        assert_eq!((image.kind(), image.bytes()), ("image/jpeg", a_jpeg(b"").as_slice()));
        let colours = segment(0xee, b"Adobe\0d\0\0\0\0\x01");
        assert_eq!(Image::read(&a_jpeg(&colours)).unwrap().bytes(), a_jpeg(&colours));
    }

    #[test]
    fn what_is_no_picture_or_too_much_is_refused() {
        assert_eq!(Image::read(b"GIF89a").unwrap_err(), ImageError::Unknown);
        assert_eq!(Image::read(b"").unwrap_err(), ImageError::Unknown);
        assert_eq!(Image::read(&vec![0; LARGEST + 1]).unwrap_err(), ImageError::TooLarge);
        assert_eq!(Image::read(&a_png(LONGEST_SIDE + 1, b"")).unwrap_err(), ImageError::TooWide);
        assert_eq!(Image::read(&a_png(0, b"")).unwrap_err(), ImageError::Damaged);
    }

    #[test]
    fn a_picture_that_is_cut_off_anywhere_is_refused() {
        for whole in [a_png(1, b""), a_jpeg(b"")] {
            assert!(Image::read(&whole).is_ok());
            for length in 8..whole.len() {
                assert!(Image::read(&whole[..length]).is_err(), "{length} of {whole:?}");
            }
        }
    }

    #[test]
    fn bytes_are_written_in_base64() {
        let of = |bytes: &[u8]| Image { bytes: bytes.to_vec(), kind: "image/png" }.base64();
        assert_eq!(
            [of(b""), of(b"f"), of(b"fo"), of(b"foo"), of(b"foob")],
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
        assert_eq!(of(&[0xff, 0xfe, 0xfd]), "//79");
    }
}
