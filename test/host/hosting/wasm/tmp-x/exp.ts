import { liveGuest, CONTEXT, request, hostCalls, entityRef, faultOf } from '../support/live-guest.ts';
import { counter } from '../support/counter.ts';
// 1: lifting amplification
{
  const zero14 = '(i32.const 0)'.repeat(4);
  const g = await liveGuest({ memory: '(memory (export "memory") 300)', handle: `(local $n i32) (local.set $n (i32.const 1000)) (memory.fill (i32.const 65536) (i32.const 65) (i32.const 16000000)) (loop $l (call $read (i32.const 65536) (i32.const 8000000) (i32.const 0) (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 256)) (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1))))) (drop (call $clear)) (i32.store16 (i32.const 20) (i32.const 204)) (i32.const 16)` });
  const t = performance.now();
  const r = await g.endpoints.handle(CONTEXT, request(0), hostCalls());
  console.log('1 lifting: 1000 calls', r, (performance.now() - t).toFixed(0), 'ms in one turn (limit is 10000 calls)');
  await g.close();
}
// 2: growth refused stale
{
  const g = await liveGuest({ command: '(if (i32.eq (i32.load8_u (local.get $name)) (i32.const 103)) (then (drop (memory.grow (i32.const 5000))) (return (call $clear)))) unreachable' });
  const e = await g.entities.open(entityRef('a'), undefined);
  console.log('2', e.command(CONTEXT, 'grow', '').kind, (await faultOf(() => e.command(CONTEXT, 'trap', ''))).faultCause, '(should be trap)');
}
// 3: stack left in an import called from deep recursion in a handler
{
  const g = await liveGuest({ fields: '(func $deep (param $n i32) (if (local.get $n) (then (call $deep (i32.sub (local.get $n) (i32.const 1)))) (else (drop (call $now-ms)))) )', handle: '(call $deep (local.get $query-length)) (drop (call $clear)) (i32.store16 (i32.const 20) (i32.const 204)) (i32.const 16)' });
  const depth = () => { let n = 0; const f = () => { n++; f(); }; try { f(); } catch {} return n; };
  for (const n of [0, 1000, 5000, 10000, 12000, 14000, 16000, 20000]) {
    let left = -1;
    try { const r = await g.endpoints.handle(CONTEXT, request(0, { query: 'x'.repeat(n) }), hostCalls({ nowMs: () => { left = depth(); return 1; } })); console.log('3 depth', n, 'host frames left', left, r.status); } catch (e) { console.log('3 depth', n, 'left', left, e.faultCause, e.message); }
  }
  // now drop -> destructor nest, then import
}
// 3b: entity: command deep then clock
// 4: churn of grown instances
{
  const g = await liveGuest({ handle: `(drop (call $clear)) (drop (memory.grow (i32.const 1))) (i32.store16 (i32.const 20) (i32.const 204)) (i32.const 16)` });
  let k = 0; const t = performance.now();
  try { for (; k < 40000; k++) await g.endpoints.handle(CONTEXT, request(0), hostCalls()); } catch (e) { console.log('4 failed after', k, String(e)); }
  console.log('4 churn', k, (performance.now() - t).toFixed(0), 'ms', (process.memoryUsage().rss / 1e6).toFixed(0), 'MB');
}
