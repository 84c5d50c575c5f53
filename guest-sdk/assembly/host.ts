// The imports of the world `service`, and the layout of their values in memory (canonical ABI, UTF-16).
//
// Invariant: garbage is collected only in `cabi_post_*` and at the end of an entity's destructor, never while a
// handler runs. So values that the host has written stay where they are, with valid pointers, until the call ends.

export namespace host {
  /** Memory for the largest answer of an import: result<page, call-error>. */
  export const answerAt: usize = memory.data(48, 8);

  /** Returns a string that the host has written: the object that `cabi_realloc` made, or a copy if it is longer. */
  export function text(at: usize, units: usize): string {
    if (units == 0) return "";
    const bytes = units << 1;
    if (<usize>load<u32>(at - 4) == bytes) return changetype<string>(at);
    return String.UTF16.decodeUnsafe(at, bytes);
  }

  export function textAt(pair: usize): string {
    return text(load<usize>(pair), load<usize>(pair + 4));
  }

  /** Writes pointer and length, in UTF-16 code units. */
  // @ts-ignore: decorator
  @inline
  export function putString(pair: usize, value: string): void {
    store<usize>(pair, changetype<usize>(value));
    store<usize>(pair + 4, value.length);
  }

  /** Writes text of the author's code; a lone surrogate becomes U+FFFD. */
  export function putText(pair: usize, value: string): void {
    putString(pair, wellFormed(value));
  }

  /** Returns the first value of a name in a list<tuple<string, string>>; null when there is none. */
  export function findPair(at: usize, count: i32, name: string): string | null {
    for (let i = 0; i < count; ++i) {
      const pair = at + (<usize>i << 4);
      if (textAt(pair) == name) return textAt(pair + 8);
    }
    return null;
  }
}

const REPLACEMENT: u16 = 0xfffd;

/** Returns the text with U+FFFD in place of each lone surrogate: only well-formed text may leave the module. */
export function wellFormed(text: string): string {
  const at = changetype<usize>(text);
  const end = at + ((<usize>text.length) << 1);
  let copy: usize = 0;
  for (let from = at; from < end; from += 2) {
    const unit = load<u16>(from);
    if ((unit & 0xf800) != 0xd800) continue;
    if (unit < 0xdc00 && from + 2 < end && (load<u16>(from + 2) & 0xfc00) == 0xdc00) {
      from += 2;
      continue;
    }
    if (copy == 0) {
      copy = __new(end - at, idof<string>());
      memory.copy(copy, at, end - at);
    }
    store<u16>(copy + (from - at), REPLACEMENT);
  }
  return copy == 0 ? text : changetype<string>(copy);
}

export namespace clock {
  // @ts-ignore: decorator
  @external("svc:runtime/clock@0.2.0", "now-ms")
  export declare function nowMs(): u64;

  /** `timer`: address of a `timer`. `answer`: address for a result<_, call-error>. */
  // @ts-ignore: decorator
  @external("svc:runtime/clock@0.2.0", "set-timer")
  export declare function setTimer(timer: usize, answer: usize): void;

  // @ts-ignore: decorator
  @external("svc:runtime/clock@0.2.0", "cancel-timer")
  export declare function cancelTimer(
    component: usize,
    componentUnits: usize,
    id: usize,
    idUnits: usize,
    name: usize,
    nameUnits: usize,
    answer: usize,
  ): void;
}

export namespace journal {
  // @ts-ignore: decorator
  @external("svc:runtime/journal@0.2.0", "read")
  export declare function read(
    component: usize,
    componentUnits: usize,
    id: usize,
    idUnits: usize,
    afterSeq: u64,
    limit: u32,
    answer: usize,
  ): void;

  /** `answer`: address for a result<page, call-error>. */
  // @ts-ignore: decorator
  @external("svc:runtime/journal@0.2.0", "find")
  export declare function find(
    view: usize,
    viewUnits: usize,
    query: usize,
    queryUnits: usize,
    input: usize,
    inputUnits: usize,
    limit: u32,
    hasCursor: i32,
    cursor: usize,
    cursorUnits: usize,
    answer: usize,
  ): void;
}

export namespace routing {
  // @ts-ignore: decorator
  @external("svc:runtime/routing@0.2.0", "call")
  export declare function call(
    component: usize,
    componentUnits: usize,
    id: usize,
    idUnits: usize,
    name: usize,
    nameUnits: usize,
    input: usize,
    inputUnits: usize,
    metadata: usize,
    metadataCount: usize,
    hasKey: i32,
    key: usize,
    keyUnits: usize,
    answer: usize,
  ): void;

  /** `headers`: list<tuple<string, string>>. `answer`: address for a result<response, call-error>. */
  // @ts-ignore: decorator
  @external("svc:runtime/routing@0.2.0", "request")
  export declare function request(
    service: usize,
    serviceUnits: usize,
    method: usize,
    methodUnits: usize,
    path: usize,
    pathUnits: usize,
    headers: usize,
    headersCount: usize,
    body: usize,
    bodyLength: usize,
    answer: usize,
  ): void;
}
