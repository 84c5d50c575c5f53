// RootFolder: the folder into which an image is unpacked, entry by entry.
//
// Invariants
// R1  Nothing outside of the folder is made, linked, changed or removed. Each path is followed in the tree in memory, through
//     folders only, and the folder is new and written by nobody else, so the disk is as the tree says. What is made must not be on
//     the disk yet, so a file system that takes two names for one makes the unpacking fail.
// R2  A link is stored as it is and never followed. A hard link leads to a file of the tree.
// R3  Nothing has an owner, or a bit of setuid, setgid or sticky. Its user can read every file, and remove all of it.
import {
  chmod,
  type FileHandle,
  link,
  mkdir,
  open,
  rm,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { Chunks } from './digest.ts';
import { newFolder, RootTree, type TreeFolder, type TreeNode } from './root-tree.ts';

const FOLDER_MODE = 0o755;
const PERMISSIONS = 0o777;
/** Largest time that is kept, in seconds since 1970: the year 2242, which every file system can store. */
const TIME_MAX = 2 ** 33;

/** Reason why an entry is refused, as a clause that goes on from its path. */
export class EntryRefusal extends Error {}

export interface FileEntry {
  readonly mode: number;
  readonly time: number | undefined;
  readonly content: Chunks;
}

/** Names that lead to an entry from the root; at least one. */
export type Names = readonly string[];

export class RootFolder {
  readonly path: string;
  readonly tree = new RootTree();
  /** Number of the layer whose entries are taken. */
  layer = 0;
  readonly #countEntry: () => void;

  /** `path`: an empty folder. `countEntry`: called for each entry that is made, and may throw. */
  constructor(path: string, countEntry: () => void) {
    this.path = path;
    this.#countEntry = countEntry;
  }

  /** Makes a folder; one that is there gets the mode, and keeps what is in it. Throws EntryRefusal. */
  async putFolder(names: Names, mode: number): Promise<void> {
    const parent = await this.#parentFor(names);
    const name = names.at(-1)!;
    const present = parent.children.get(name);
    if (present?.kind === 'directory') present.layer = this.layer;
    else {
      await this.#remove(names, parent);
      await this.#makeFolder(names, parent);
    }
    await chmod(this.#pathOf(names), (mode & PERMISSIONS) | 0o700);
  }

  async putFile(names: Names, { mode, time, content }: FileEntry): Promise<void> {
    const parent = await this.#clearPath(names);
    const handle = await open(this.#pathOf(names), 'wx', 0o600);
    try {
      parent.children.set(names.at(-1)!, { kind: 'file', layer: this.layer });
      for await (const chunk of content) await handle.writeFile(chunk);
      await handle.chmod((mode & PERMISSIONS) | 0o400);
      await setTime(handle, time);
    } finally {
      await handle.close();
    }
  }

  /** Makes a symbolic link, whose target may be anything. Throws EntryRefusal. */
  async putLink(names: Names, target: string): Promise<void> {
    const parent = await this.#clearPath(names);
    await symlink(target, this.#pathOf(names));
    parent.children.set(names.at(-1)!, { kind: 'link', layer: this.layer });
  }

  /** Makes another name of a file. Throws EntryRefusal. */
  async putHardLink(names: Names, target: Names): Promise<void> {
    const parent = await this.#clearPath(names);
    if (this.tree.find(target)?.kind !== 'file')
      throw new EntryRefusal('is a hard link to something that is no file of the image');
    await link(this.#pathOf(target), this.#pathOf(names));
    parent.children.set(names.at(-1)!, { kind: 'file', layer: this.layer });
  }

  /** Removes what lower layers have put at a path. Throws EntryRefusal. */
  async hide(names: Names): Promise<void> {
    const parent = this.#parentIfThere(names);
    const name = names.at(-1)!;
    const present = parent?.children.get(name);
    if (parent !== undefined && present !== undefined) await this.#hideNode(names, parent, present);
  }

  /** Removes what lower layers have put into a folder. Throws EntryRefusal. */
  async hideContent(names: readonly string[]): Promise<void> {
    const folder = this.#parentIfThere([...names, '']);
    if (folder !== undefined) await this.#clear(names, folder);
  }

  /** Makes a folder, also where a link or a file is, or is above it. */
  async forceFolder(names: Names): Promise<void> {
    let parent = this.tree.root;
    for (const [at, name] of names.entries()) {
      const path = names.slice(0, at + 1);
      let next = parent.children.get(name);
      if (next?.kind !== 'directory') {
        await this.#remove(path, parent);
        next = await this.#makeFolder(path, parent);
      }
      parent = next;
    }
  }

  /** Makes a folder, unless something else is there, or above it. */
  async ensureFolder(names: Names): Promise<void> {
    const isBlocked = names.some((_, at) => {
      const node = this.tree.find(names.slice(0, at + 1));
      return node !== undefined && node.kind !== 'directory';
    });
    if (!isBlocked) await this.forceFolder(names);
  }

  /** Makes an empty file, also where something else is. */
  async forceEmptyFile(names: Names): Promise<void> {
    if (names.length > 1) await this.forceFolder(names.slice(0, -1));
    await this.putFile(names, { mode: 0o644, time: undefined, content: nothing() });
  }

  /** Returns the path of a file of the tree; undefined if there is no file. */
  fileAt(names: Names): string | undefined {
    return this.tree.find(names)?.kind === 'file' ? this.#pathOf(names) : undefined;
  }

  #pathOf(names: readonly string[]): string {
    return join(this.path, ...names);
  }

  /** Removes what is at a path, and returns the folder above it. */
  async #clearPath(names: Names): Promise<TreeFolder> {
    const parent = await this.#parentFor(names);
    await this.#remove(names, parent);
    return parent;
  }

  /** Returns the folder above a path, which is made if it is missing. */
  async #parentFor(names: Names): Promise<TreeFolder> {
    const parent = this.tree.parentOf(names);
    if (parent.kind === 'blocked') throw blockedBy(parent.by);
    let { folder } = parent;
    if (parent.kind === 'missing')
      for (let depth = parent.depth + 1; depth < names.length; depth++)
        folder = await this.#makeFolder(names.slice(0, depth), folder);
    return folder;
  }

  #parentIfThere(names: Names): TreeFolder | undefined {
    const parent = this.tree.parentOf(names);
    if (parent.kind === 'blocked') throw blockedBy(parent.by);
    return parent.kind === 'folder' ? parent.folder : undefined;
  }

  async #makeFolder(names: Names, parent: TreeFolder): Promise<TreeFolder> {
    this.#countEntry();
    const path = this.#pathOf(names);
    await mkdir(path);
    await chmod(path, FOLDER_MODE);
    const made = newFolder(this.layer);
    parent.children.set(names.at(-1)!, made);
    return made;
  }

  /** Removes what is at a path, whichever layer has put it there. */
  async #remove(names: Names, parent: TreeFolder): Promise<void> {
    const name = names.at(-1)!;
    const present = parent.children.get(name);
    if (present === undefined) return;
    const path = this.#pathOf(names);
    await (present.kind === 'directory' ? rm(path, { recursive: true }) : unlink(path));
    parent.children.delete(name);
  }

  async #hideNode(names: Names, parent: TreeFolder, node: TreeNode): Promise<void> {
    if (node.kind === 'directory') {
      await this.#clear(names, node);
      if (node.layer === this.layer || node.children.size > 0) return;
      await rmdir(this.#pathOf(names));
    } else {
      if (node.layer === this.layer) return;
      await unlink(this.#pathOf(names));
    }
    parent.children.delete(names.at(-1)!);
  }

  /** Visits a folder once for each layer, since nothing of lower layers can come into it later. */
  async #clear(names: readonly string[], folder: TreeFolder): Promise<void> {
    if (folder.clearedBy === this.layer) return;
    folder.clearedBy = this.layer;
    for (const [name, node] of folder.children)
      await this.#hideNode([...names, name], folder, node);
  }
}

async function setTime(handle: FileHandle, time: number | undefined): Promise<void> {
  if (time !== undefined && time >= 0 && time <= TIME_MAX) await handle.utimes(time, time);
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function blockedBy(kind: 'file' | 'link'): EntryRefusal {
  return new EntryRefusal(kind === 'link' ? 'is below a symbolic link' : 'is below a file');
}
