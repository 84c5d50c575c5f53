// verifyWebhook: decides whether a request is a delivery of a webhook, signed with a secret of its receiver a short time ago.
//
// Invariants:
// - Nothing in a request aborts. A module without a secret does: anybody could sign with none.
// - Signatures are compared in constant time.
import { encodeBase64 } from "./base64";
import { Code } from "./code";
import { fromJson } from "./codec";
import { epochMs } from "./date-time";
import { Done } from "./done";
import { clock, wellFormed } from "./host";
import { Request } from "./http";
import { JsonReader } from "./json-reader";
import { Result, refuse } from "./result";
import { hmacSha256 } from "./sha256";

const SIGNATURE = "x-hook-signature";
const TIMESTAMP = "x-hook-timestamp";
const PREVIOUS_SIGNATURE = "x-hook-signature-previous";
/** Maximum difference between the timestamp and the time of the request, either way. */
const TOLERANCE_MS: i64 = 300_000;
const TIMESTAMP_LENGTH = 24;

/** The body of a request whose signature was verified. */
export class VerifiedBody {
  constructor(public readonly bytes: Uint8Array) {}

  /** Returns the body as text, in UTF-8. */
  text(): string {
    if (this.bytes.length == 0) return "";
    return wellFormed(String.UTF8.decodeUnsafe(this.bytes.dataStart, this.bytes.length));
  }

  /** Decodes the body as JSON. The result is refused with BAD_REQUEST if it is no JSON of this type. */
  json<T>(): Result<T> {
    const reader = new JsonReader(this.text());
    const value = fromJson<T>(reader);
    if (reader.failed) return refuse<T>(reader.problem("body"));
    return Result.__svc_of<T>(value);
  }
}

/**
 * Verifies a request whose body is signed. `body`: the argument of a route that takes bytes. `secrets`: one, or the new and the
 * former one while it is being rotated. A refusal has the code UNAUTHENTICATED, and the reason in its details.
 */
export function verifyWebhook(request: Request, body: Uint8Array, secrets: string[]): Result<VerifiedBody> {
  const verified = verify(request, body.dataStart, body.length, secrets);
  if (!verified.isOk) return verified.refusedAs<VerifiedBody>();
  return Result.__svc_of<VerifiedBody>(new VerifiedBody(body));
}

/** Verifies a request whose path is signed, and whose body anybody may have written. `path`: as it was sent. Its query is not signed. */
export function verifyWebhookPath(request: Request, path: string, secrets: string[]): Result<Done> {
  const signed = path.split("?")[0];
  const bytes = String.UTF8.encode(signed.length > 0 ? signed : "/");
  return verify(request, changetype<usize>(bytes), bytes.byteLength, secrets);
}

function verify(request: Request, content: usize, contentBytes: i32, secrets: string[]): Result<Done> {
  expectSecrets(secrets);
  const signatures = valuesOf(request, SIGNATURE);
  const timestamps = valuesOf(request, TIMESTAMP);
  const previous = valuesOf(request, PREVIOUS_SIGNATURE);
  if (signatures.length == 0) return refused("missing-signature", "the request has no " + SIGNATURE);
  if (timestamps.length == 0) return refused("missing-timestamp", "the request has no " + TIMESTAMP);
  if (signatures.length > 1 || timestamps.length > 1 || previous.length > 1)
    return refused("repeated-header", "a header of the signature occurs more than once");

  const timestamp = timestamps[0];
  const signedMs = timestampMs(timestamp);
  if (signedMs == i64.MIN_VALUE)
    return refused(
      "malformed-timestamp",
      TIMESTAMP + " is not a time in UTC with milliseconds, such as 2026-02-28T12:30:00.000Z",
    );
  if (abs<i64>(<i64>clock.nowMs() - signedMs) > TOLERANCE_MS)
    return refused("stale-timestamp", TIMESTAMP + " is more than 300 s from the present time");

  const message = signedMessage(timestamp, content, contentBytes);
  for (let i = 0; i < secrets.length; ++i) {
    const expected = encodeBase64(hmacSha256(String.UTF8.encode(secrets[i]), message));
    if (isSame(expected, signatures[0])) return Result.__svc_of<Done>(new Done());
    if (previous.length > 0 && isSame(expected, previous[0])) return Result.__svc_of<Done>(new Done());
  }
  return refused("wrong-signature", "no secret gives the " + SIGNATURE + " of the request");
}

function refused(reason: string, message: string): Result<Done> {
  return refuse<Done>(message, Code.UNAUTHENTICATED, '{"reason":"' + reason + '"}');
}

function expectSecrets(secrets: string[]): void {
  if (secrets.length > 0 && !secrets.includes("")) return;
  throw new Error("the secrets of a webhook are missing or empty, so anybody could sign: name at least one");
}

/** Returns each value of a header that is not empty. A comma is where somebody has joined the values of a repeated header. */
function valuesOf(request: Request, name: string): string[] {
  const values: string[] = [];
  const headers = request.headers();
  for (let i = 0; i < headers.length; ++i) {
    const value = headers[i].value.trim();
    if (headers[i].name != name || value.length == 0) continue;
    const parts = value.split(",");
    for (let part = 0; part < parts.length; ++part) values.push(parts[part].trim());
  }
  return values;
}

/** Returns the time of a text such as `2026-02-28T12:30:00.000Z`; i64.MIN_VALUE for any other form. */
function timestampMs(text: string): i64 {
  const isUtcWithMs =
    text.length == TIMESTAMP_LENGTH && text.charCodeAt(19) == 0x2e && text.endsWith("Z");
  return isUtcWithMs ? epochMs(text) : i64.MIN_VALUE;
}

/** Joins the timestamp, a full stop and the signed content. */
function signedMessage(timestamp: string, content: usize, contentBytes: i32): ArrayBuffer {
  const start = String.UTF8.encode(timestamp + ".");
  const message = new ArrayBuffer(start.byteLength + contentBytes);
  const at = changetype<usize>(message);
  memory.copy(at, changetype<usize>(start), start.byteLength);
  memory.copy(at + <usize>start.byteLength, content, contentBytes);
  return message;
}

/** Compares all of two texts of the same length, so that the time shows nothing of where they differ. */
function isSame(expected: string, given: string): bool {
  if (given.length != expected.length) return false;
  let difference = 0;
  for (let i = 0; i < expected.length; ++i) difference |= expected.charCodeAt(i) ^ given.charCodeAt(i);
  return difference == 0;
}
