// FlatList: lists come back as they were, and bytes that are no such list are refused with a reason.
import { expect, test } from 'vitest';
import {
  decodeList,
  encodeList,
  LENGTH_BYTES,
  type Scalar,
} from '../../../host/remoting/flat-list.ts';
import { RefusedMessage } from '../../../host/remoting/refused-message.ts';
import { Random } from '../../support/random.ts';

const VALUES_MAX = 65_536;

function decoded(message: Buffer, valuesMax = VALUES_MAX): Scalar[] {
  return decodeList(message, LENGTH_BYTES, message.length, valuesMax);
}

const TEXTS = [
  '',
  'a',
  'größe',
  '🛒',
  '\u0000',
  '\ufeffa',
  '\ud800',
  'a\udc00b',
  '€'.repeat(8),
  'é'.repeat(85),
  'é'.repeat(86),
  '\ufeff' + 'x'.repeat(100),
  'x'.repeat(23) + '\ud800',
  'x'.repeat(24),
  'x'.repeat(25),
  'x'.repeat(31),
  'x'.repeat(32),
  'x'.repeat(255),
  'x'.repeat(256),
  '🛒'.repeat(40_000),
];
const NUMBERS = [0, 1, 127, 128, 255, 65_536, 2 ** 31 - 1, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, -1];
const FLOATS = [0.5, -1.5, 1e300, Infinity, NaN];
const BYTES = [new Uint8Array(), Uint8Array.of(0, 255), new Uint8Array(100_000).fill(7)];

test('every scalar comes back as it was', () => {
  const list: Scalar[] = [null, ...TEXTS, ...NUMBERS, ...FLOATS, ...BYTES];
  expect(decoded(encodeList(list))).toEqual(list);
  for (const value of list) expect(decoded(encodeList([value]))).toEqual([value]);
});

test('lists of any length come back, and the length before a message is that of its list', () => {
  const random = new Random(1);
  for (let round = 0; round < 200; round++) {
    const list = Array.from({ length: random.below(40) }, () =>
      random.pick<Scalar>([random.pick(TEXTS), random.pick(NUMBERS), null, BYTES[1]!]),
    );
    const message = encodeList(list);
    expect(message.readUInt32BE(0)).toBe(message.length - LENGTH_BYTES);
    expect(decoded(message)).toEqual(list);
  }
});

test('messages that were encoded earlier keep their bytes', () => {
  const lists = Array.from({ length: 500 }, (_, index) => [
    `text ${index}`,
    index,
    'x'.repeat(index),
  ]);
  const messages = lists.map((list) => encodeList(list));
  expect(messages.map((message) => decoded(message))).toEqual(lists);
});

test('a body keeps nothing of the message that it came with', () => {
  const [bytes] = decoded(encodeList([Uint8Array.of(1, 2)])) as [Uint8Array];
  expect(bytes.buffer.byteLength).toBe(2);
});

test.each([
  ['nothing', '', 'no list'],
  ['a number', '0000000001', 'no list'],
  ['a list of another form', '93000000', 'no list'],
  ['a map', 'df00000000', 'no list'],
  ['a list without its values', 'dd00000001', 'a list of 1 values'],
  ['a list of more values than there are bytes', 'ddffffffff00', 'a list of 4294967295 values'],
  ['a list in a list', 'dd0000000191c0', 'type 0x91'],
  ['deeply nested lists', 'dd00000064' + '91'.repeat(100), 'type 0x91'],
  ['a map in a list', 'dd0000000181c0c0', 'type 0x81'],
  ['a truth value', 'dd00000001c3', 'type 0xc3'],
  ['the type that is never used', 'dd00000001c1', 'type 0xc1'],
  ['a large integer', 'dd00000001cf0000000000000001', 'type 0xcf'],
  ['a negative integer', 'dd00000001ff', 'type 0xff'],
  ['another extension', 'dd00000001d40100', 'type 0xd4'],
  ['an extension of another type', 'dd00000001c900000000020000', 'extension'],
  ['half a UTF-16 unit', 'dd00000001c9000000030161006200', 'extension'],
  ['an extension without its type', 'dd00000001c900000000', 'longer than it'],
  ['a short text that ends too early', 'dd00000001a261', 'longer than it'],
  ['a text without its length', 'dd00000001d9', 'longer than it'],
  ['a text that ends too early', 'dd00000001d90261', 'longer than it'],
  ['a text of 4 GiB', 'dd00000001dbffffffff61', 'longer than it'],
  ['bytes of 4 GiB', 'dd00000001c6ffffffff00', 'longer than it'],
  ['a number that ends too early', 'dd00000001cb00', 'longer than it'],
  ['another number that ends too early', 'dd00000001ce0000', 'longer than it'],
  ['a list that ends too early', 'dd00000003a16101', 'longer than it'],
  ['something behind the list', 'dd0000000000', 'bytes behind'],
])('%s is refused', (_, hex, reason) => {
  const bytes = Buffer.from(hex, 'hex');
  const decode = () => decodeList(bytes, 0, bytes.length, VALUES_MAX);
  expect(decode).toThrow(RefusedMessage);
  expect(decode).toThrow(new RegExp(reason));
});

test('a list has at most as many values as are allowed', () => {
  const message = encodeList([1, 2, 3]);
  expect(decoded(message, 3)).toEqual([1, 2, 3]);
  expect(() => decoded(message, 2)).toThrow('a list of 3 values');
});

test('bytes that are no UTF-8 become a text', () => {
  expect(decodeList(Buffer.from('dd00000001a2ff61', 'hex'), 0, 8, 1)).toEqual(['\ufffda']);
});
