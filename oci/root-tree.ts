// RootTree: the files of an image that is being unpacked, in memory: what is at each path, and which layer put it there. It decides
// where an entry may go; root-folder.ts writes.
//
// Invariant: a path is followed through folders only, never through a link, so what is on the disk cannot lead out of the root.

/** A file or a link. `layer`: number of the layer that has it as an entry. */
export interface TreeLeaf {
  readonly kind: 'file' | 'link';
  readonly layer: number;
}

export interface TreeFolder {
  readonly kind: 'directory';
  /** Number of the last layer that has it, or an entry below it that made it. */
  layer: number;
  readonly children: Map<string, TreeNode>;
  /** Number of the last layer that has removed what lower layers have put into the folder. */
  clearedBy: number;
}

export type TreeNode = TreeLeaf | TreeFolder;

/** Where a path ends: in the folder that has its last name, or at the name that is no folder. */
export type TreeParent =
  | { readonly kind: 'folder'; readonly folder: TreeFolder }
  | { readonly kind: 'missing'; readonly folder: TreeFolder; readonly depth: number }
  | { readonly kind: 'blocked'; readonly by: 'file' | 'link' };

export function newFolder(layer: number): TreeFolder {
  return { kind: 'directory', layer, children: new Map(), clearedBy: -1 };
}

export class RootTree {
  readonly root: TreeFolder = newFolder(0);

  /**
   * Returns the folder above a path. `missing`: the lowest folder that is there, with the number of names that lead to it.
   */
  parentOf(names: readonly string[]): TreeParent {
    let folder = this.root;
    for (let depth = 0; depth < names.length - 1; depth++) {
      const next = folder.children.get(names[depth]!);
      if (next === undefined) return { kind: 'missing', folder, depth };
      if (next.kind !== 'directory') return { kind: 'blocked', by: next.kind };
      folder = next;
    }
    return { kind: 'folder', folder };
  }

  /** Returns what is at a path that leads through folders only. */
  find(names: readonly string[]): TreeNode | undefined {
    const name = names.at(-1);
    if (name === undefined) return this.root;
    const parent = this.parentOf(names);
    return parent.kind === 'folder' ? parent.folder.children.get(name) : undefined;
  }
}
