// A counter in WAT, in ASCII for any encoding with one byte per unit (build it as UTF-8), with one command for each
// behaviour that a test needs. It distinguishes commands by the first byte of their names, and routes by their index.
import type { GuestParts } from './guest-module.ts';

const TEXTS = {
  counted: [1024, 'counted'],
  event: [1040, '{"type":"counted"}'],
  one: [1072, '1'],
  conflict: [1080, 'not now'],
  details: [1090, '{"n":1}'],
  odd: [1100, 'odd'],
  hello: [1110, 'hello'],
  abort: [1120, 'abort: boom at counter.ts:3:5'],
  component: [1160, 'counter'],
  add: [1170, 'add'],
  empty: [1175, '{}'],
  header: [1180, 'x-test'],
  newline: [1190, 'a\\nb'],
  bad: [1200, 'bad event'],
} as const;
type TextName = keyof typeof TEXTS;

/** The address and the length of the text, as two operands. */
const text = (name: TextName) => {
  const [at, content] = TEXTS[name];
  return `(i32.const ${at}) (i32.const ${content.replaceAll('\\n', '\n').length})`;
};
/** Stores the address and the length of a text. */
const put = (at: number, name: TextName) => `(call $put (i32.const ${at}) ${text(name)})`;
const byte = (at: number, value: number) => `(i32.store8 (i32.const ${at}) (i32.const ${value}))`;
const word = (at: number, value: string) => `(i32.store (i32.const ${at}) ${value})`;
/** Tests whether the name begins with this letter. */
const when = (letter: string, body: string) =>
  `(if (i32.eq (local.get $letter) (i32.const ${letter.charCodeAt(0)})) (then ${body}))`;
const route = (index: number, body: string) =>
  `(if (i32.eq (local.get $route) (i32.const ${index})) (then ${body}))`;
const answer = '(return (i32.const 16))';
const response = (kind: number, pair: string) =>
  `(i32.store16 (i32.const 20) (i32.const 200)) ${byte(32, kind)} ${pair} ${answer}`;

const data = Object.values(TEXTS)
  .map(([at, content]) => `(data (i32.const ${at}) "${content.replaceAll('"', '\\"')}")`)
  .join('\n');

export const counter: GuestParts = {
  fields: `
    ${data}
    (global $records (mut i32) (i32.const 8192))
    (global $lines (mut i32) (i32.const 0))
    (global $visits (mut i64) (i64.const 0))
    (table 4 funcref) (elem (i32.const 0) $spin-indirect)
    (type $plain (func))
    (func $spin-indirect (type $plain) (return_call_indirect (type $plain) (i32.const 0)))
    (func $put (param $at i32) (param $pointer i32) (param $length i32)
      (i32.store (local.get $at) (local.get $pointer))
      (i32.store offset=4 (local.get $at) (local.get $length)))
    (func $forget (global.set $top (i32.const 65536)))
    (func $line (param $level i32) (param $pointer i32) (param $length i32)
      (local $at i32)
      (local.set $at (i32.add (i32.const 4096) (i32.mul (global.get $lines) (i32.const 12))))
      (i32.store8 (local.get $at) (local.get $level))
      (call $put (i32.add (local.get $at) (i32.const 4)) (local.get $pointer) (local.get $length))
      (global.set $lines (i32.add (global.get $lines) (i32.const 1))))
    (func $recurse (call $recurse) (call $recurse))
    (func $decimal (param $at i32) (param $value i64)
      (local $digit i32)
      (local.set $digit (i32.const 160))
      (loop $next
        (local.set $digit (i32.sub (local.get $digit) (i32.const 1)))
        (i32.store8 (local.get $digit)
          (i32.add (i32.const 48) (i32.wrap_i64 (i64.rem_u (local.get $value) (i64.const 10)))))
        (local.set $value (i64.div_u (local.get $value) (i64.const 10)))
        (br_if $next (i64.ne (local.get $value) (i64.const 0))))
      (call $put (local.get $at) (local.get $digit) (i32.sub (i32.const 160) (local.get $digit))))
    (func (export "cabi_post_svc:runtime/entity@0.1.0#[method]instance.apply") (param i32) (call $forget))
    (func (export "cabi_post_svc:runtime/entity@0.1.0#[method]instance.command") (param i32) (call $forget))
    (func (export "cabi_post_svc:runtime/entity@0.1.0#[method]instance.query") (param i32) (call $forget))
    (func (export "cabi_post_svc:runtime/http@0.1.0#handle") (param i32) (call $forget))`,
  construct: `(local $record i32) (local $index i32)
    (local.set $record (global.get $records))
    (global.set $records (i32.add (local.get $record) (i32.const 8)))
    (block $done (br_if $done (i32.eqz (local.get $some))) (loop $next
      (br_if $done (i32.ge_u (local.get $index) (local.get $snapshot-length)))
      (i64.store (local.get $record) (i64.add
        (i64.mul (i64.load (local.get $record)) (i64.const 10))
        (i64.extend_i32_u (i32.sub (i32.load8_u (i32.add (local.get $snapshot) (local.get $index))) (i32.const 48)))))
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br $next)))
    (call $resource-new (local.get $record))`,
  apply: `(drop (call $clear))
    (if (i32.gt_u (local.get $count) (i32.const 0)) (then
      (if (i32.ne (i32.load8_u (i32.load offset=8 (local.get $events))) (i32.const 123)) (then
        ${byte(16, 1)} ${put(20, 'bad')} ${answer}))))
    (i64.store (local.get $rep) (i64.add (i64.load (local.get $rep)) (i64.extend_i32_u (local.get $count))))
    ${answer}`,
  command: `(local $letter i32)
    (drop (call $clear))
    (local.set $letter (i32.load8_u (local.get $name)))
    ${when('a', `${put(128, 'counted')} ${put(136, 'event')} ${word(20, '(i32.const 128)')} ${word(24, '(i32.const 1)')} ${put(32, 'one')} ${answer}`)}
    ${when('d', `${byte(28, 1)} ${put(32, 'one')} ${answer}`)}
    ${when('r', `${byte(16, 1)} ${byte(20, 4)} ${put(32, 'conflict')} ${byte(40, 1)} ${put(44, 'details')} ${answer}`)}
    ${when('o', `${byte(16, 1)} ${byte(20, 7)} ${put(24, 'odd')} ${put(32, 'conflict')} ${answer}`)}
    ${when('t', 'unreachable')}
    ${when('s', '(loop $spin (br $spin))')}
    ${when('i', '(call_indirect (type $plain) (i32.const 0))')}
    ${when('f', '(call $recurse)')}
    ${when('g', '(loop $grow (br_if $grow (i32.ne (memory.grow (i32.const 1)) (i32.const -1))) unreachable)')}
    ${when('l', `(call $line (i32.const 1) ${text('hello')}) (call $line (i32.const 3) ${text('newline')}) ${put(32, 'one')} ${answer}`)}
    ${when('b', `(call $line (i32.const 1) ${text('hello')}) (call $line (i32.const 3) ${text('abort')}) unreachable`)}
    ${when('c', `(call $decimal (i32.const 32) (call $now-ms)) ${answer}`)}
    ${when('z', `(call $decimal (i32.const 32) (local.get $seed)) ${answer}`)}
    ${when('m', `(call $put (i32.const 32) (i32.load (local.get $metadata)) (i32.load offset=4 (local.get $metadata))) ${answer}`)}
    ${when('n', `(call $call ${text('component')} ${text('one')} ${text('add')} ${text('empty')} (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 256))`)}
    ${when('j', `(call $read ${text('component')} ${text('one')} (i64.const 0) (i32.const 1) (i32.const 256))`)}
    unreachable`,
  query: `(local $letter i32)
    (drop (call $clear))
    (local.set $letter (i32.load8_u (local.get $name)))
    ${when('e', `(call $put (i32.const 20) (local.get $input) (local.get $input-length)) ${answer}`)}
    ${when('r', `${byte(16, 1)} ${byte(20, 3)} ${put(32, 'conflict')} ${answer}`)}
    ${when('c', `(call $decimal (i32.const 20) (call $now-ms)) ${answer}`)}
    (call $decimal (i32.const 20) (i64.load (local.get $rep))) ${answer}`,
  snapshot: `(call $decimal (i32.const 16) (i64.load (local.get $rep))) ${answer}`,
  // 0 echoes the body, 1 calls the counter named by the first parameter, 2 counts its visits in memory and in a
  // global, 3 reads a journal, 4 grows, 5 loops for ever, 6 aborts, 7 answers with the time, 8 answers with a header,
  // 9 refuses.
  handle: `(local $kind i32)
    (drop (call $clear))
    ${route(0, response(0, `(i32.store8 (i32.const 32) (local.get $body-kind)) (call $put (i32.const 36) (local.get $body) (local.get $body-length))`).replace(byte(32, 0), ''))}
    ${route(
      1,
      `
      (call $call ${text('component')} (i32.load (local.get $parameters)) (i32.load offset=4 (local.get $parameters))
        ${text('add')} ${text('empty')} (local.get $metadata) (local.get $metadata-length)
        (i32.const 1) ${text('odd')} (i32.const 256))
      (if (i32.eqz (i32.load8_u (i32.const 256))) (then
        ${response(1, '(call $put (i32.const 36) (i32.load (i32.const 260)) (i32.load (i32.const 264)))')}))
      (if (i32.load8_u (i32.const 260)) (then
        (call $decimal (i32.const 36) (i64.extend_i32_u (i32.load8_u (i32.const 260))))
        (if (i32.ne (i32.load8_u (i32.const 260)) (i32.const 3)) (then
          (call $put (i32.const 36) (i32.load (i32.const 264)) (i32.load (i32.const 268)))))
        (i32.store16 (i32.const 20) (i32.add (i32.const 500) (i32.load8_u (i32.const 260)))) ${byte(32, 2)} ${answer}))
      ${byte(16, 1)} (memory.copy (i32.const 20) (i32.const 264) (i32.const 32)) ${answer}`,
    )}
    ${route(
      2,
      `
      (global.set $visits (i64.add (global.get $visits) (i64.const 1)))
      (i64.store (i32.const 4096) (i64.add (i64.load (i32.const 4096)) (i64.const 1)))
      ${response(2, '(call $decimal (i32.const 36) (i64.add (i64.mul (global.get $visits) (i64.const 100)) (i64.load (i32.const 4096))))')}`,
    )}
    ${route(
      3,
      `
      (call $read ${text('component')} ${text('one')} (i64.const 3) (local.get $query-length) (i32.const 256))
      (if (i32.load8_u (i32.const 256)) (then ${response(2, '(call $put (i32.const 36) (i32.load (i32.const 260)) (i32.load (i32.const 264)))')}))
      ${response(1, '(call $put (i32.const 36) (i32.load offset=24 (i32.load (i32.const 260))) (i32.load offset=28 (i32.load (i32.const 260))))')}`,
    )}
    ${route(4, `(drop (memory.grow (i32.const 3))) ${response(2, put(36, 'one'))}`)}
    ${route(5, '(loop $spin (br $spin))')}
    ${route(6, `(call $line (i32.const 3) ${text('abort')}) unreachable`)}
    ${route(7, response(2, '(call $decimal (i32.const 36) (call $now-ms))'))}
    ${route(
      8,
      `${put(128, 'header')} ${put(136, 'newline')}
      (if (i32.eqz (local.get $query-length)) (then ${put(136, 'hello')}))
      ${word(24, '(i32.const 128)')} ${word(28, '(i32.const 1)')} ${response(0, '')}`,
    )}
    ${byte(16, 1)} ${byte(20, 2)} ${put(32, 'conflict')} ${answer}`,
  takeLog: `${word(16, '(i32.const 4096)')} ${word(20, '(global.get $lines)')} (global.set $lines (i32.const 0)) ${answer}`,
};
