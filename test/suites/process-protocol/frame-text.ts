// FrameText: frames of the process protocol as JSON, by the names of the .proto, and back. It reads the .proto itself, with a library of its own, so that
// it shares no code with the sides that it tests.
//
// Each message has a field besides those of the .proto, `laterField`, and both kinds of frames have `later`: they stand for those of a later version.
import { join } from 'node:path';
import protobuf from 'protobufjs';

const PROTO = join(import.meta.dirname, '../../../process-protocol/svc/process/v1/process.proto');
const LATER_FIELD = 1_000;
const LATER_FRAME = 1_001;

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

const root = protobuf.loadSync(PROTO);
const messages = root.lookup('svc.process.v1') as protobuf.Namespace;
messages.add(new protobuf.Type('Later').add(new protobuf.Field('text', 1, 'string')));
for (const message of messages.nestedArray) {
  if (!(message instanceof protobuf.Type)) continue;
  if (message.name.endsWith('ProcessFrame'))
    message.oneofs.frame!.add(new protobuf.Field('later', LATER_FRAME, 'Later'));
  message.add(new protobuf.Field('laterField', LATER_FIELD, 'string'));
}
root.resolveAll();

const ToProcess = messages.lookupType('ToProcess');
const FromProcess = messages.lookupType('FromProcess');

/** Returns the message that holds these frames. Throws if they do not fit the .proto. */
export function messageToProcess(frames: readonly JsonObject[]): Buffer {
  for (const frame of frames) checkNames(ToProcess.fields.frames!.resolvedType, frame);
  return encodedMessage('ToProcess', frames);
}

/** Returns the message that holds these frames, without what the .proto does not have of them. */
export function encodedMessage(
  kind: 'ToProcess' | 'FromProcess',
  frames: readonly JsonObject[],
): Buffer {
  const type = kind === 'ToProcess' ? ToProcess : FromProcess;
  return Buffer.from(type.encode(type.fromObject({ frames })).finish());
}

/** Returns the frames of a message. Throws if it is none. */
export function framesFromProcess(message: Buffer): readonly JsonObject[] {
  return framesOf(FromProcess, message);
}

/** Returns the frames of a message to the process. Throws if it is none. */
export function framesToProcess(message: Buffer): readonly JsonObject[] {
  return framesOf(ToProcess, message);
}

function framesOf(type: protobuf.Type, message: Buffer): readonly JsonObject[] {
  const { frames = [] } = plain(type, fieldsOf(type.decode(message))) as {
    frames?: readonly JsonObject[];
  };
  return frames;
}

/** Returns the fields of a message that are not at their defaults, whether they were sent or not. */
function plain(type: protobuf.Type, message: Readonly<Record<string, unknown>>): JsonObject {
  const fields: Record<string, Json> = {};
  for (const field of type.fieldsArray) {
    if (!Object.hasOwn(message, field.name)) continue;
    const value = message[field.name];
    if (field.repeated) {
      const values = (value as readonly unknown[]).map((one) => plainValue(field, one));
      if (values.length > 0) fields[field.name] = values;
      continue;
    }
    const text = plainValue(field, value);
    const isDefault = text === 0 || text === '' || text === false;
    if (!isDefault || field.partOf !== null) fields[field.name] = text;
  }
  return fields;
}

function plainValue({ resolvedType }: protobuf.Field, value: unknown): Json {
  if (resolvedType instanceof protobuf.Type)
    return plain(resolvedType, value as Readonly<Record<string, unknown>>);
  if (typeof value === 'object' && value !== null && 'low' in value) return Number(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return value as Json;
}

function fieldsOf(message: object): Readonly<Record<string, unknown>> {
  return message as Readonly<Record<string, unknown>>;
}

/** A transcript with a misspelt name would send less than it says. */
function checkNames(type: unknown, value: unknown): void {
  if (!(type instanceof protobuf.Type) || typeof value !== 'object' || value === null) return;
  for (const [name, child] of Object.entries(value)) {
    const field = type.fields[name];
    if (field === undefined) throw new Error(`${type.name} has no field '${name}'`);
    for (const one of Array.isArray(child) ? child : [child]) checkNames(field.resolvedType, one);
  }
}
