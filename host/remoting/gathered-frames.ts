// GatheredFrames collects the frames that one side of a connection sends in a turn of its event loop, and divides them into
// messages of a moderate size. A frame that is too large for any message is refused before it is added.
import type { Frames } from '../shards/frame.ts';
import { scalarBytes, scalarBytesMax } from './flat-list.ts';
import {
  GATHERED_BYTES_MAX,
  GATHERED_VALUES_MAX,
  MESSAGE_BYTES_MAX,
  MESSAGE_VALUES_MAX,
} from './remoting-limits.ts';

/** Bytes of a message beside its values. */
const OWN_BYTES = 64;

export class GatheredFrames {
  #frames: Frames = [];
  #bytesMax = 0;
  #messages: Frames[] = [];

  /** Adds what `write` writes. Returns false, and adds nothing, if that is too large for a message. */
  add(write: (frames: Frames) => void): boolean {
    let frames = this.#frames;
    if (frames.length > GATHERED_VALUES_MAX || this.#bytesMax > GATHERED_BYTES_MAX) {
      this.#messages.push(frames);
      this.#frames = frames = [];
      this.#bytesMax = 0;
    }
    const begin = frames.length;
    write(frames);
    let bytesMax = 0;
    for (let at = begin; at < frames.length; at++) bytesMax += scalarBytesMax(frames[at]!);
    if (
      frames.length - begin > MESSAGE_VALUES_MAX - GATHERED_VALUES_MAX ||
      isTooLong(frames, begin, bytesMax)
    ) {
      frames.length = begin;
      return false;
    }
    this.#bytesMax += bytesMax;
    return true;
  }

  /** Returns the messages that are to be sent, and forgets them. */
  take(): readonly Frames[] {
    const messages = this.#messages;
    if (this.#frames.length > 0) messages.push(this.#frames);
    this.#frames = [];
    this.#bytesMax = 0;
    this.#messages = [];
    return messages;
  }
}

/** `bytesMax`: the largest number of bytes that the frame can have. */
function isTooLong(frames: Frames, begin: number, bytesMax: number): boolean {
  const room = MESSAGE_BYTES_MAX - GATHERED_BYTES_MAX - OWN_BYTES;
  if (bytesMax <= room) return false;
  let bytes = 0;
  for (let at = begin; at < frames.length; at++) bytes += scalarBytes(frames[at]!);
  return bytes > room;
}
