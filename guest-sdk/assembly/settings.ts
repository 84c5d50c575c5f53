// The module's configuration, as its handlers read it: the host answers a call of a component that no module can have.
import { fromJson } from "./codec";
import { host, routing } from "./host";
import { JsonReader } from "./json-reader";

const COMPONENT = "svc:configuration";
const READ = "read";

/** The object that was read; null before the first read. The runtime restores it with the memory after each request and event. */
let held: Object | null = null;

/**
 * Returns the values that the operator gives to the module: `settings<Settings>()`, with the @configuration class. Only handlers
 * of endpoints and consumers can read them. A value that changes reaches the next request.
 */
export function settings<T>(): T {
  if (held === null) held = changetype<Object>(readSettings<T>());
  return changetype<T>(held);
}

function readSettings<T>(): T {
  const answer = host.answerAt;
  routing.call(
    changetype<usize>(COMPONENT),
    COMPONENT.length,
    0,
    0,
    changetype<usize>(READ),
    READ.length,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    answer,
  );
  if (load<u8>(answer) != 0) throw new Error("the host has no configuration for this module");
  const reader = new JsonReader(host.textAt(answer + 4));
  const value = fromJson<T>(reader);
  if (reader.failed) throw new Error("the configuration does not decode: " + reader.problem("configuration"));
  return value;
}
