// IdleList is the list of entities that could be closed at any moment, least recently used first. It is a linked list through
// its members, so that a use costs a few assignments and no allocation.

/** A member has the links of the list, which only the list changes. */
export interface Idler {
  idleBefore: Idler | undefined;
  idleAfter: Idler | undefined;
}

export class IdleList<T extends Idler> {
  #oldest: T | undefined = undefined;
  #newest: T | undefined = undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get oldest(): T | undefined {
    return this.#oldest;
  }

  /** Puts a member at the end, whether it was in the list or not. */
  touch(member: T): void {
    if (this.#newest === member) return;
    this.remove(member);
    member.idleBefore = this.#newest;
    if (this.#newest === undefined) this.#oldest = member;
    else this.#newest.idleAfter = member;
    this.#newest = member;
    this.#size++;
  }

  /** Removes a member. Does nothing when it is not in the list. */
  remove(member: T): void {
    const before = member.idleBefore as T | undefined;
    const after = member.idleAfter as T | undefined;
    if (before === undefined && this.#oldest !== member) return;
    if (before === undefined) this.#oldest = after;
    else before.idleAfter = after;
    if (after === undefined) this.#newest = before;
    else after.idleBefore = before;
    member.idleBefore = undefined;
    member.idleAfter = undefined;
    this.#size--;
  }
}
