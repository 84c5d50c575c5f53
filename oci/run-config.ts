// RunConfig: what the config of an image says of how it is run, checked: the command, the environment, the working directory, the
// user as it is written, and the layers.
import { posix } from 'node:path';
import type { Digest } from './digest.ts';
import { ImageError } from './image-error.ts';
import { invalid, isObject, type JsonObject, parseDiffIds, parseObject } from './image-json.ts';
import {
  COMMAND_BYTES_MAX,
  NAME_BYTES_MAX,
  type RootLimits,
  RUN_VALUE_BYTES_MAX,
  RUN_VALUES_MAX,
} from './root-limits.ts';

export interface RunCommand {
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** An absolute path in the image. */
  readonly workingDir: string;
}

export interface RunConfig {
  readonly command: RunCommand;
  /** User and group by name or number, as in `node:node`; empty for root. */
  readonly user: string;
  /** Empty if the config names none. */
  readonly os: string;
  /** Empty if the config names none. */
  readonly architecture: string;
  readonly diffIds: readonly Digest[];
}

/** Parses a config. Throws SVC_IMAGE_INVALID and SVC_IMAGE_NOT_RUNNABLE. `image`: name of the image, for messages. */
export function parseRunConfig(
  bytes: Uint8Array,
  image: string,
  { layersMax, pathBytesMax }: Pick<RootLimits, 'layersMax' | 'pathBytesMax'>,
): RunConfig {
  const where = `the config of ${image}`;
  const { config: value, rootfs, os, architecture } = parseObject(bytes, where);
  const config: JsonObject = isObject(value) ? value : {};
  const entrypoint = texts(config['Entrypoint'], `'Entrypoint' of ${where}`);
  const cmd = texts(config['Cmd'], `'Cmd' of ${where}`);
  if (entrypoint.length + cmd.length === 0)
    throw new ImageError(
      'SVC_IMAGE_NOT_RUNNABLE',
      `The image ${image} has no command. Add ENTRYPOINT or CMD to its Dockerfile, and build it again.`,
    );
  const commandBytes = [...entrypoint, ...cmd].reduce(
    (sum, one) => sum + Buffer.byteLength(one) + 1,
    0,
  );
  if (commandBytes > COMMAND_BYTES_MAX)
    throw new ImageError(
      'SVC_IMAGE_NOT_RUNNABLE',
      `The command of the image ${image} has ${commandBytes} bytes, and may have ${COMMAND_BYTES_MAX}. Shorten ENTRYPOINT and CMD in its Dockerfile, for example by a file that the program reads.`,
    );
  return {
    command: {
      entrypoint,
      cmd,
      env: variables(texts(config['Env'], `'Env' of ${where}`), where),
      workingDir: folderPath(config['WorkingDir'], `'WorkingDir' of ${where}`, pathBytesMax),
    },
    user: text(config['User'], `'User' of ${where}`),
    os: text(os, `'os' of ${where}`),
    architecture: text(architecture, `'architecture' of ${where}`),
    diffIds: parseDiffIds(rootfs, where, layersMax),
  };
}

function folderPath(value: unknown, where: string, bytesMax: number): string {
  const path = posix.resolve('/', text(value, where));
  const isLong = path.split('/').some((name) => Buffer.byteLength(name) > NAME_BYTES_MAX);
  if (isLong || Buffer.byteLength(path) > bytesMax) throw invalid(`${where} is too long`);
  return path;
}

function variables(entries: readonly string[], where: string): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  for (const entry of entries) {
    const equals = entry.indexOf('=');
    if (equals < 1) throw invalid(`'Env' of ${where} has a value that is not NAME=VALUE`);
    found.set(entry.slice(0, equals), entry.slice(equals + 1));
  }
  return Object.fromEntries(found);
}

function texts(value: unknown, where: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > RUN_VALUES_MAX)
    throw invalid(`${where} is no list of at most ${RUN_VALUES_MAX} values`);
  return value.map((one) => text(one, where));
}

function text(value: unknown, where: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string' || value.includes('\0'))
    throw invalid(`${where} has a value that is no text`);
  if (Buffer.byteLength(value) > RUN_VALUE_BYTES_MAX)
    throw invalid(`${where} has a value of more than ${RUN_VALUE_BYTES_MAX} bytes`);
  return value;
}
