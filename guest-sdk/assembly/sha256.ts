// SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104). A module reaches no `crypto` of the host, so the SDK computes them.
//
// Invariant: each function writes its static memory before it reads it, so nothing of one message is left for the next.

const BLOCK_BYTES: usize = 64;
const DIGEST_BYTES: usize = 32;
/** The last eight bytes of the last block are the length of the message. */
const LENGTH_AT: usize = BLOCK_BYTES - 8;
const INNER_PAD: u8 = 0x36;
const OUTER_PAD: u8 = 0x5c;

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const ROUNDS: StaticArray<u32> = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
];

/** The eight words of the hash so far. */
const state: usize = memory.data(32, 4);
/** The words of a block for each round. */
const schedule: usize = memory.data(256, 4);
/** The end of the message with its padding: one or two blocks. */
const tail: usize = memory.data(128, 8);

export function hmacSha256(key: ArrayBuffer, message: ArrayBuffer): Uint8Array {
  const messageBytes = <usize>message.byteLength;
  const inner = new Uint8Array(<i32>(BLOCK_BYTES + messageBytes));
  const outer = new Uint8Array(<i32>(BLOCK_BYTES + DIGEST_BYTES));
  const keyBytes = <usize>key.byteLength;
  if (keyBytes > BLOCK_BYTES) hash(changetype<usize>(key), keyBytes, inner.dataStart);
  else memory.copy(inner.dataStart, changetype<usize>(key), keyBytes);
  for (let i: usize = 0; i < BLOCK_BYTES; ++i) {
    const byte = load<u8>(inner.dataStart + i);
    store<u8>(inner.dataStart + i, byte ^ INNER_PAD);
    store<u8>(outer.dataStart + i, byte ^ OUTER_PAD);
  }
  memory.copy(inner.dataStart + BLOCK_BYTES, changetype<usize>(message), messageBytes);
  hash(inner.dataStart, inner.length, outer.dataStart + BLOCK_BYTES);
  const digest = new Uint8Array(<i32>DIGEST_BYTES);
  hash(outer.dataStart, outer.length, digest.dataStart);
  return digest;
}

/** Writes the SHA-256 of `bytes` bytes to `target`, which is not among them. */
function hash(message: usize, bytes: usize, target: usize): void {
  store<u32>(state, 0x6a09e667);
  store<u32>(state, 0xbb67ae85, 4);
  store<u32>(state, 0x3c6ef372, 8);
  store<u32>(state, 0xa54ff53a, 12);
  store<u32>(state, 0x510e527f, 16);
  store<u32>(state, 0x9b05688c, 20);
  store<u32>(state, 0x1f83d9ab, 24);
  store<u32>(state, 0x5be0cd19, 28);

  const rest = bytes % BLOCK_BYTES;
  const end = message + bytes - rest;
  for (let block = message; block < end; block += BLOCK_BYTES) compress(block);

  const tailBytes = rest < LENGTH_AT ? BLOCK_BYTES : 2 * BLOCK_BYTES;
  memory.fill(tail, 0, tailBytes);
  memory.copy(tail, end, rest);
  store<u8>(tail + rest, 0x80);
  store<u64>(tail + tailBytes - 8, bswap((<u64>bytes) << 3));
  compress(tail);
  if (tailBytes > BLOCK_BYTES) compress(tail + BLOCK_BYTES);

  for (let i: usize = 0; i < DIGEST_BYTES; i += 4) store<u32>(target + i, bswap(load<u32>(state + i)));
}

/** Adds a block to `state`. Offsets are in bytes: a word is four of them. */
function compress(block: usize): void {
  for (let i: usize = 0; i < 64; i += 4) store<u32>(schedule + i, bswap(load<u32>(block + i)));
  for (let i: usize = 64; i < 256; i += 4) {
    const early = load<u32>(schedule + i - 60);
    const late = load<u32>(schedule + i - 8);
    const sigma0 = rotr(early, 7) ^ rotr(early, 18) ^ (early >> 3);
    const sigma1 = rotr(late, 17) ^ rotr(late, 19) ^ (late >> 10);
    store<u32>(
      schedule + i,
      load<u32>(schedule + i - 64) + sigma0 + load<u32>(schedule + i - 28) + sigma1,
    );
  }

  let a = load<u32>(state);
  let b = load<u32>(state, 4);
  let c = load<u32>(state, 8);
  let d = load<u32>(state, 12);
  let e = load<u32>(state, 16);
  let f = load<u32>(state, 20);
  let g = load<u32>(state, 24);
  let h = load<u32>(state, 28);
  for (let i: usize = 0; i < 256; i += 4) {
    const sum1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = h + sum1 + choice + load<u32>(changetype<usize>(ROUNDS) + i) + load<u32>(schedule + i);
    const sum0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + sum0 + majority;
  }
  store<u32>(state, load<u32>(state) + a);
  store<u32>(state, load<u32>(state, 4) + b, 4);
  store<u32>(state, load<u32>(state, 8) + c, 8);
  store<u32>(state, load<u32>(state, 12) + d, 12);
  store<u32>(state, load<u32>(state, 16) + e, 16);
  store<u32>(state, load<u32>(state, 20) + f, 20);
  store<u32>(state, load<u32>(state, 24) + g, 24);
  store<u32>(state, load<u32>(state, 28) + h, 28);
}
