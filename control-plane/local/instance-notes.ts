// InstanceNotes: what this process knows of instances beyond their files. All of it may be lost: a control plane that starts anew
// looks at the files, and begins to count times again. Times are by the clock of the boot.

interface Note {
  /** No request is to be sent to the instance any more. */
  isRetired?: boolean;
  /** When the instance was asked to end. */
  stopAskedMs?: number;
  /** When the instance was first seen stopping, whoever asked it to. */
  seenStoppingMs?: number;
  /** Why the instance was killed. */
  killedFor?: string;
  /** When the instance was first seen not to run any more, without a word of its own. */
  seenDeadMs?: number;
}

export class InstanceNotes {
  readonly #notes = new Map<string, Note>();

  of(name: string): Readonly<Note> {
    return this.#notes.get(name) ?? {};
  }

  retire(name: string): void {
    this.#note(name).isRetired = true;
  }

  askedToStop(name: string, bootMs: number): void {
    this.#note(name).stopAskedMs ??= bootMs;
  }

  /** Returns when the instance was first seen stopping. */
  seenStopping(name: string, bootMs: number): number {
    return (this.#note(name).seenStoppingMs ??= bootMs);
  }

  /** Returns when the instance was first seen dead. */
  seenDead(name: string, bootMs: number): number {
    return (this.#note(name).seenDeadMs ??= bootMs);
  }

  killedFor(name: string, reason: string): void {
    this.#note(name).killedFor ??= reason;
  }

  /** Forgets all of the instance: it runs anew, or is gone. */
  forget(name: string): void {
    this.#notes.delete(name);
  }

  #note(name: string): Note {
    let note = this.#notes.get(name);
    if (note === undefined) this.#notes.set(name, (note = {}));
    return note;
  }
}
