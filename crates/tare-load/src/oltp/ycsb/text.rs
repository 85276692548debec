//! What stands in a field: characters that no compression makes smaller than three quarters.

use crate::oltp::Random;
use crate::oltp::ycsb::schema::LENGTH;

/// 64, so that six random bits are one.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
/// How many characters 64 bits give.
const AT_ONCE: usize = 10;

/// Into `field`, in place of what was there.
pub fn write(field: &mut String, random: &mut Random) {
    field.clear();
    for _ in 0..LENGTH / AT_ONCE {
        let bits = random.bits();
        field.extend((0..AT_ONCE).map(|place| char::from(ALPHABET[(bits >> (6 * place)) as usize & 63])));
    }
}

/// A new one.
pub fn drawn(random: &mut Random) -> String {
    let mut field = String::with_capacity(LENGTH);
    write(&mut field, random);
    field
}
