// ImageUser: the user of an image by number. Names are looked up in the image's own /etc/passwd and /etc/group.
import { readFile, stat } from 'node:fs/promises';
import { ImageError } from './image-error.ts';
import type { RootFolder } from './root-folder.ts';
import { USERS_FILE_BYTES_MAX } from './root-limits.ts';

export interface ImageUser {
  readonly uid: number;
  readonly gid: number;
}

/** Largest number of a user or a group that runtimes of containers allow. */
const NUMBER_MAX = 2 ** 31 - 1;

/** Returns the user that a config names, such as `node`, `1000:1000` or, for root, an empty text. Rejects with SVC_IMAGE_NOT_RUNNABLE. */
export async function resolveUser(
  written: string,
  root: RootFolder,
  image: string,
): Promise<ImageUser> {
  const [userText = '', groupText = '', ...more] = written.split(':');
  if (more.length > 0) throw notRunnable(image, `has the user ${JSON.stringify(written)}`);
  const [uid, gid] = await userOf(userText, root, image);
  if (groupText === '') return { uid, gid };
  const number = numberOf(groupText);
  if (number !== undefined) return { uid, gid: number };
  const group = (await lines(root, 'group')).find(([name]) => name === groupText);
  const found = numberOf(group?.[2] ?? '');
  if (found === undefined)
    throw notRunnable(
      image,
      `has the group ${JSON.stringify(groupText)}, which is not in its /etc/group`,
    );
  return { uid, gid: found };
}

async function userOf(
  text: string,
  root: RootFolder,
  image: string,
): Promise<readonly [uid: number, gid: number]> {
  if (text === '') return [0, 0];
  const number = numberOf(text);
  const user = (await lines(root, 'passwd')).find(([name, , uid]) =>
    number === undefined ? name === text : uid === text,
  );
  const uid = number ?? numberOf(user?.[2] ?? '');
  if (uid === undefined)
    throw notRunnable(image, `has the user ${JSON.stringify(text)}, who is not in its /etc/passwd`);
  return [uid, numberOf(user?.[3] ?? '') ?? 0];
}

/** Returns the fields of each line of a file in /etc; none if it is missing, too large, or no file. */
async function lines(root: RootFolder, name: string): Promise<readonly (readonly string[])[]> {
  const file = root.fileAt(['etc', name]);
  if (file === undefined || (await stat(file)).size > USERS_FILE_BYTES_MAX) return [];
  return (await readFile(file, 'utf8')).split('\n').map((line) => line.split(':'));
}

function numberOf(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) && Number(text) <= NUMBER_MAX ? Number(text) : undefined;
}

function notRunnable(image: string, what: string): ImageError {
  return new ImageError(
    'SVC_IMAGE_NOT_RUNNABLE',
    `The image ${image} ${what}. Correct USER in its Dockerfile, and build it again.`,
  );
}
