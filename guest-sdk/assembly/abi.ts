// The exports of the world `service-with-views-and-consumers` in the canonical ABI (strings in UTF-16). The names here
// are valid identifiers; the compiler renames the exports, and leaves out those that a module does not need.
//
// Invariants:
// - Garbage is collected only in `post`, with an empty stack: after the host has read an answer, or in a destructor.
// - An answer is in one static area, and its strings are objects of this module.
import { Code, Refusal } from "./code";
import { Context } from "./context";
import { callsCarry } from "./client";
import { LiveEntity } from "./entity";
import { host } from "./host";
import { BODY_BYTES, BODY_NONE, BODY_TEXT } from "./http-answer";
import { HttpCall } from "./http-call";
import { Request } from "./http";
import { log } from "./log";
import { consumerOf, endpointOf, entityOf, viewOf } from "./registry";
import { EventContext, SourceEvent } from "./source-event";
import { CHANGE_BYTES, TimerChange } from "./timer";
import { putKeys } from "./view";

export {
  env_abort,
  env_assert,
  env_debug,
  env_error,
  env_info,
  env_now,
  env_seed,
  env_trace,
  env_warn,
  unseed,
} from "./environment";

// @ts-ignore: decorator
@external("[export]svc:runtime/entity@0.2.0", "[resource-new]instance")
declare function instanceNew(representation: usize): i32;

/** Memory for the largest answers: result<effect, refusal> and result<verdict, refusal>. */
const answer: usize = memory.data(40, 8);
/** Address that empty lists and strings point to. */
const nowhere: usize = memory.data(8, 8);

/** Minimum heap bytes at which a collection starts: a heap in the processor's cache outweighs more collections. */
const COLLECT_BYTES: usize = 1 << 18;
let collectAt: usize = COLLECT_BYTES;

/** Returns the bytes of all objects, dead or alive. The compiler inserts the collector's own counter. */
export function heap_bytes(): usize {
  return 0;
}

export function post(at: usize): void {
  if (heap_bytes() < collectAt) return;
  __collect();
  // Collects at twice the live bytes, so that the relative cost is constant, however many bytes are live.
  collectAt = max(COLLECT_BYTES, heap_bytes() << 1);
}

export function cabi_realloc(old: usize, oldBytes: usize, align: usize, bytes: usize): usize {
  if (oldBytes != 0) return __renew(old, bytes);
  if (bytes == 0) return nowhere;
  // UTF-16 text becomes a string object, so that reading it needs no copy.
  return align == 2 ? __new(bytes, idof<string>()) : __new(bytes, idof<ArrayBuffer>());
}

function putRefusal(at: usize, refusal: Refusal): void {
  store<u8>(at, <u8>refusal.code);
  host.putText(at + 4, refusal.otherCode);
  host.putText(at + 12, refusal.message);
  const details = refusal.details;
  store<u8>(at + 20, details !== null ? 1 : 0);
  if (details !== null) host.putText(at + 24, details);
}

// --- entity ---

export function entity_constructor(
  component: usize,
  componentUnits: usize,
  id: usize,
  idUnits: usize,
  hasSnapshot: i32,
  snapshot: usize,
  snapshotUnits: usize,
): i32 {
  const entity = entityOf(host.text(component, componentUnits));
  const state = hasSnapshot ? host.text(snapshot, snapshotUnits) : null;
  const live = entity.__svc_open(host.text(id, idUnits), state);
  return instanceNew(__pin(changetype<usize>(live)));
}

export function entity_destructor(representation: usize): void {
  __unpin(representation);
  post(0);
}

export function entity_apply(self: usize, at: usize, count: i32): usize {
  const problem = changetype<LiveEntity>(self).apply(at, count);
  store<u8>(answer, problem.length > 0 ? 1 : 0);
  host.putText(answer + 4, problem);
  return answer;
}

export function entity_command(
  self: usize,
  nowMs: u64,
  seed: u64,
  metadata: usize,
  metadataCount: i32,
  name: usize,
  nameUnits: usize,
  input: usize,
  inputUnits: usize,
): usize {
  Math.seedRandom(<i64>seed);
  const effect = changetype<LiveEntity>(self).command(
    nowMs,
    metadata,
    metadataCount,
    host.text(name, nameUnits),
    host.text(input, inputUnits),
  );
  const refusal = effect.refusal;
  store<u8>(answer, refusal !== null ? 1 : 0);
  if (refusal !== null) {
    putRefusal(answer + 4, refusal);
    return answer;
  }
  const events = effect.events;
  const count = events.length;
  const list = count > 0 ? __new(<usize>count << 4, idof<ArrayBuffer>()) : nowhere;
  for (let i = 0; i < count; ++i) {
    host.putString(list + (<usize>i << 4), events[i].manifest);
    host.putString(list + (<usize>i << 4) + 8, events[i].json);
  }
  store<usize>(answer + 4, list);
  store<usize>(answer + 8, count);
  store<u8>(answer + 12, effect.deleteEntity ? 1 : 0);
  host.putString(answer + 16, effect.reply);
  putTimers(answer + 24, effect.timers);
  return answer;
}

/** Writes a list<timer-change>. `last`: the last change; null: an empty list. */
function putTimers(at: usize, last: TimerChange | null): void {
  const count: usize = last !== null ? last.count : 0;
  const list = count > 0 ? __new(count * CHANGE_BYTES, idof<ArrayBuffer>()) : nowhere;
  if (last !== null) last.putAll(list);
  store<usize>(at, list);
  store<usize>(at + 4, count);
}

export function entity_query(
  self: usize,
  nowMs: u64,
  seed: u64,
  metadata: usize,
  metadataCount: i32,
  name: usize,
  nameUnits: usize,
  input: usize,
  inputUnits: usize,
): usize {
  Math.seedRandom(<i64>seed);
  const result = changetype<LiveEntity>(self).query(
    nowMs,
    metadata,
    metadataCount,
    host.text(name, nameUnits),
    host.text(input, inputUnits),
  );
  const refusal = result.refusal;
  store<u8>(answer, refusal !== null ? 1 : 0);
  if (refusal !== null) putRefusal(answer + 4, refusal);
  else host.putString(answer + 4, result.value);
  return answer;
}

export function entity_snapshot(self: usize): usize {
  host.putString(answer, changetype<LiveEntity>(self).snapshot());
  return answer;
}

// --- http ---

export function http_handle(
  nowMs: u64,
  seed: u64,
  metadata: usize,
  metadataCount: i32,
  route: i32,
  parameters: usize,
  parametersCount: i32,
  query: usize,
  queryUnits: usize,
  headers: usize,
  headersCount: i32,
  caller: usize,
  callerUnits: usize,
  bodyCase: i32,
  body: usize,
  bodyLength: i32,
): usize {
  Math.seedRandom(<i64>seed);
  callsCarry(metadata, metadataCount);
  const endpoint = endpointOf(route);
  const call = new HttpCall(
    parameters,
    new Request(host.text(caller, callerUnits), host.text(query, queryUnits), headers, headersCount),
    new Context("", nowMs, metadata, metadataCount),
    <u8>bodyCase,
    body,
    bodyLength,
  );
  endpoint.__svc_handle(route - endpoint.__svc_firstRoute(), call);
  const refusal = call.refusal;
  store<u8>(answer, refusal !== null ? 1 : 0);
  if (refusal !== null) putRefusal(answer + 4, refusal);
  else putResponse(answer + 4, call);
  return answer;
}

function putResponse(at: usize, call: HttpCall): void {
  if (call.status < 200 || call.status > 599)
    throw new Error("a response's status must be from 200 to 599, and is " + call.status.toString());
  const headers = call.headers;
  const count = headers.length;
  const list = count > 0 ? __new(<usize>count << 4, idof<ArrayBuffer>()) : nowhere;
  for (let i = 0; i < count; ++i) {
    host.putText(list + (<usize>i << 4), headers[i].name);
    host.putText(list + (<usize>i << 4) + 8, headers[i].value);
  }
  store<u16>(at, <u16>call.status);
  store<usize>(at + 4, list);
  store<usize>(at + 8, count);
  store<u8>(at + 12, call.bodyCase);
  const bytes = call.bytes;
  if (call.bodyCase == BODY_BYTES && bytes !== null) {
    store<usize>(at + 16, bytes.dataStart);
    store<usize>(at + 20, bytes.byteLength);
  } else if (call.bodyCase == BODY_TEXT) host.putText(at + 16, call.text);
  else if (call.bodyCase != BODY_NONE) host.putString(at + 16, call.text);
}

// --- view: exported if the module declares views ---

export function view_keys(view: usize, viewUnits: usize, events: usize, count: i32): usize {
  putKeys(viewOf(host.text(view, viewUnits)), events, count, answer);
  return answer;
}

export function view_fold(
  view: usize,
  viewUnits: usize,
  rows: usize,
  rowCount: i32,
  events: usize,
  eventCount: i32,
): usize {
  viewOf(host.text(view, viewUnits)).__svc_foldAll(rows, rowCount, events, eventCount, answer);
  return answer;
}

// --- consumer: exported if the module declares consumers ---

export function consumer_handle(
  nowMs: u64,
  seed: u64,
  metadata: usize,
  metadataCount: i32,
  consumer: usize,
  consumerUnits: usize,
  component: usize,
  componentUnits: usize,
  id: usize,
  idUnits: usize,
  seq: u64,
  timeMs: u64,
  manifest: usize,
  manifestUnits: usize,
  json: usize,
  jsonUnits: usize,
): usize {
  Math.seedRandom(<i64>seed);
  callsCarry(metadata, metadataCount);
  const event = new SourceEvent(
    host.text(component, componentUnits),
    new EventContext(host.text(id, idUnits), seq, timeMs, ""),
    host.text(manifest, manifestUnits),
    host.text(json, jsonUnits),
  );
  const verdict = consumerOf(host.text(consumer, consumerUnits)).__svc_consume(event);
  const refusal = verdict.__svc_refusal;
  store<u8>(answer, refusal !== null ? 1 : 0);
  if (refusal !== null) putRefusal(answer + 8, refusal);
  else verdict.__svc_put(answer + 8);
  return answer;
}

// --- diagnostics ---

export function diagnostics_take_log(): usize {
  log.take(answer);
  return answer;
}

export function log_post(at: usize): void {
  log.release();
  post(at);
}
