// Container: starts the entrypoint of an image that was built without Docker, as the image's user if root runs the
// test, and with no program in the path that the image does not contain.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { isRoot, type Image } from './dockerfile.ts';

export interface Start {
  /** Arguments after the entrypoint, as in `docker run IMAGE WORD …`. */
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Folder in the image → mounted folder. */
  readonly volumes?: Readonly<Record<string, string>>;
}

export function startImage(
  image: Image,
  { words, env = {}, volumes = {} }: Start = {},
): ChildProcessByStdio<null, Readable, Readable> {
  const placed = (word: string): string => {
    if (!word.startsWith('/')) return word;
    const volume = Object.keys(volumes).find((folder) => word.startsWith(`${folder}/`));
    return volume === undefined
      ? join(image.root, word)
      : join(volumes[volume]!, word.slice(volume.length));
  };
  const [command, ...rest] = [...image.entrypoint, ...(words ?? image.cmd)].map((word) =>
    placed(word),
  );
  const search = join(image.root, 'usr', 'local', 'bin');
  return spawn(command!.includes('/') ? command! : join(search, command!), rest, {
    cwd: join(image.root, image.workdir),
    env: { ...image.env, PATH: search, HOME: '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(isRoot ? image.user : {}),
  });
}
