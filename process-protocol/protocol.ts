// Protocol: the numbers of the process protocol, and its method as gRPC needs it. svc/process/v1/process.proto says what
// the frames mean.
//
// Invariant: a message that cannot be decoded ends its stream, because its receiver cannot know what it has missed.
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { FromProcessFrame, ToProcessFrame } from './generated/svc/process/v1/process.ts';

/** Versions of the protocol, newest first. */
export const PROTOCOL_VERSIONS: readonly number[] = [1];

/** Port of a process on 127.0.0.1 (contract, document 2, ports). */
export const PROCESS_PORT = 9010;

/** Variable that has the port on which a process is to listen, where the runtime starts it. */
export const PROCESS_PORT_VARIABLE = 'SVC_PROCESS_PORT';

/** Most bytes of a message, unless one of its frames is larger. */
export const MESSAGE_BYTES_MAX = 256 * 1024;

/** Most bytes of a frame. The limits of the engine are below. */
export const FRAME_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes that are sent before the receiver has credited them. */
export const WINDOW_BYTES = 4 * 1024 * 1024;

const OPEN = '/svc.process.v1.Process/Open';
/** The tag of `repeated frames = 1` in both messages. */
const FRAMES_TAG = 10;

/** A message as it was received. */
export interface Received<Frame> {
  readonly frames: readonly Frame[];
  /** Size of the message, which its receiver credits; 0 for a message of nothing but pings, pongs and credits. */
  readonly bytes: number;
  /** Why the bytes are no message of the protocol; absent: they are one. Then there are no frames, and the receiver ends the stream. */
  readonly problem?: string;
}

/** The method of a gRPC server and client: messages are sent encoded, and received decoded. */
export const OPEN_METHOD = {
  path: OPEN,
  requestStream: true,
  responseStream: true,
  requestSerialize: (message: Buffer): Buffer => message,
  requestDeserialize: (bytes: Buffer): Received<ToProcessFrame> => received(bytes, ToProcessFrame),
  responseSerialize: (message: Buffer): Buffer => message,
  responseDeserialize: (bytes: Buffer): Received<FromProcessFrame> =>
    received(bytes, FromProcessFrame),
} as const;

const CONTROL: ReadonlySet<string | undefined> = new Set(['ping', 'pong', 'credit']);

interface AnyFrame {
  readonly frame: { readonly $case: string } | undefined;
}

interface FrameCodec<Frame> {
  encode(frame: Frame, writer: BinaryWriter): BinaryWriter;
  decode(reader: BinaryReader, length?: number): Frame;
}

/** Most bytes of a frame whose writer is used for the next one: a larger frame has made its buffer large. */
const REUSED_BYTES_MAX = 64 * 1024;
/** A new writer for each frame would take more than twice the time, most of it for buffers that grow. */
let writer = new BinaryWriter();

/** Encodes a frame. Throws an Error if a value of it is none that the protocol can carry. */
export function encodedFrame<Frame>(codec: FrameCodec<Frame>, frame: Frame): Uint8Array {
  try {
    const bytes = codec.encode(frame, writer).finish();
    if (bytes.length > REUSED_BYTES_MAX) writer = new BinaryWriter();
    return bytes;
  } catch (error) {
    // What was written of the frame is still in it.
    writer = new BinaryWriter();
    throw error;
  }
}

/**
 * Decodes a message. It does not throw where it cannot, because grpc-js does not end each stream of which a message cannot be decoded.
 */
function received<Frame extends AnyFrame>(
  bytes: Buffer,
  codec: FrameCodec<Frame>,
): Received<Frame> {
  try {
    const frames = framesOf(bytes, codec);
    const isCounted = frames.some(({ frame }) => !CONTROL.has(frame?.$case));
    return { frames, bytes: isCounted ? bytes.length : 0 };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { frames: [], bytes: 0, problem: `a message cannot be decoded: ${why}` };
  }
}

/** Throws an Error if the bytes are no message of the protocol. */
function framesOf<Frame>(bytes: Buffer, codec: FrameCodec<Frame>): readonly Frame[] {
  const reader = new BinaryReader(bytes);
  const frames: Frame[] = [];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag !== FRAMES_TAG) reader.skip(tag & 7);
    else if (frames.length > 0 && bytes.length > MESSAGE_BYTES_MAX)
      throw new Error(`several frames take more than ${MESSAGE_BYTES_MAX} bytes`);
    else frames.push(codec.decode(reader, reader.uint32()));
  }
  return frames;
}

/** Returns the message that holds these encoded frames. */
export function messageOf(frames: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const frame of frames) length += headLength(frame.length) + frame.length;
  const message = Buffer.allocUnsafe(length);
  let at = 0;
  for (const frame of frames) {
    message[at++] = FRAMES_TAG;
    let left = frame.length;
    while (left > 0x7f) {
      message[at++] = (left & 0x7f) | 0x80;
      left >>>= 7;
    }
    message[at++] = left;
    message.set(frame, at);
    at += frame.length;
  }
  return message;
}

/** Returns the size of a frame with these bytes within a message. */
export function headLength(bytes: number): number {
  let length = 2;
  for (let left = bytes >>> 7; left > 0; left >>>= 7) length++;
  return length;
}
