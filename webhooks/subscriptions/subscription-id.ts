// SubscriptionId: the id of a new subscription: `wh_` and a ULID, so that later ones sort after earlier ones and no id is a word of a path.
import { randomBytes } from 'node:crypto';

const PREFIX = 'wh_';
/** The base 32 of Crockford. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const DIGIT_BITS = 5n;
const TIME_BITS = 48n;
const RANDOM_BITS = 80n;
const LENGTH = 26;

export function newSubscriptionId(nowMs: number): string {
  const time = BigInt.asUintN(Number(TIME_BITS), BigInt(nowMs));
  const random = BigInt(`0x${randomBytes(Number(RANDOM_BITS) / 8).toString('hex')}`);
  const number = (time << RANDOM_BITS) | random;
  const digits = Array.from({ length: LENGTH }, (_, index) => {
    const digit = (number >> (DIGIT_BITS * BigInt(LENGTH - 1 - index))) & 31n;
    return DIGITS[Number(digit)];
  });
  return `${PREFIX}${digits.join('')}`;
}
