// ImageBuild: executes the steps of a Dockerfile without Docker, each stage in a folder that represents its file
// system. The absolute paths of a command are moved into that folder. Not covered: that the base images exist and
// contain the files in `bases`; layers and their cache; the isolation of a file system (a command sees this machine's
// /usr and /bin as well); VOLUME and EXPOSE, which are only parsed; owners and users, unless root runs the test.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { basename, isAbsolute, join, matchesGlob, relative } from 'node:path';

export const isRoot = process.getuid?.() === 0;

export interface Image {
  /** Folder that represents the file system. */
  readonly root: string;
  workdir: string;
  env: Record<string, string>;
  user: { readonly uid: number; readonly gid: number } | undefined;
  entrypoint: readonly string[];
  cmd: readonly string[];
  readonly volumes: string[];
  readonly ports: string[];
}

export interface BuildInput {
  readonly dockerfile: string;
  readonly context: string;
  /** Folder in which the stages' folders are created. */
  readonly folder: string;
  readonly args?: Readonly<Record<string, string>>;
  /** Fills the folder of a base image, by the name of the image. */
  readonly bases: Readonly<Record<string, (root: string) => void>>;
  /** Environment of commands, in addition to that of the Dockerfile. */
  readonly env: Readonly<Record<string, string>>;
}

interface Instruction {
  readonly word: string;
  readonly text: string;
}

/** Builds the image of the last stage. Throws if a step fails or is not supported. */
export function buildImage(input: BuildInput): Image {
  const build = new ImageBuild(input);
  for (const instruction of instructionsOf(readFileSync(input.dockerfile, 'utf8')))
    build.step(instruction);
  return build.image;
}

function instructionsOf(text: string): Instruction[] {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  return lines
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word, rest] = /^([A-Z]+)\s+(.*)$/.exec(line)!;
      return { word: word!, text: rest!.trim() };
    });
}

class ImageBuild {
  readonly #input: BuildInput;
  readonly #stages = new Map<string, Image>();
  readonly #ignored: (path: string) => boolean;
  #args: Record<string, string> = {};
  #image: Image | undefined;

  constructor(input: BuildInput) {
    this.#input = input;
    this.#ignored = ignoredBy(join(input.context, '.dockerignore'));
  }

  get image(): Image {
    return this.#image!;
  }

  step({ word, text: raw }: Instruction): void {
    const text = word === 'RUN' ? raw : this.#filledIn(raw);
    switch (word) {
      case 'FROM':
        return this.#from(text);
      case 'ARG': {
        const [name, fallback] = text.split('=') as [string, string?];
        this.#args[name] = this.#input.args?.[name] ?? fallback ?? '';
        return;
      }
      case 'ENV': {
        const [name, ...value] = text.split('=') as [string, ...string[]];
        this.image.env[name] = value.join('=');
        return;
      }
      case 'WORKDIR':
        this.image.workdir = isAbsolute(text) ? text : join(this.image.workdir, text);
        mkdirSync(this.#inside(this.image, '.'), { recursive: true });
        return;
      case 'COPY':
        return this.#copy(text.split(/\s+/));
      case 'RUN':
        return this.#run(text);
      case 'USER': {
        const [uid, gid] = text.split(':').map(Number) as [number, number];
        if (!(uid >= 0 && gid >= 0)) throw new Error(`USER ${text}: not two numbers`);
        this.image.user = { uid, gid };
        return;
      }
      case 'VOLUME':
        return void this.image.volumes.push(text);
      case 'EXPOSE':
        return void this.image.ports.push(...text.split(/\s+/));
      case 'ENTRYPOINT':
        this.image.entrypoint = JSON.parse(text) as string[];
        this.image.cmd = [];
        return;
      case 'CMD':
        this.image.cmd = JSON.parse(text) as string[];
        return;
      default:
        throw new Error(`${word} is not known here`);
    }
  }

  #filledIn(text: string): string {
    return text.replaceAll(
      /\$\{(\w+)\}|\$(\w+)/g,
      (_whole, braced?: string, bare?: string) => this.#args[(braced ?? bare)!] ?? '',
    );
  }

  #from(text: string): void {
    const [base, , name = String(this.#stages.size)] = text.split(/\s+/) as [string, ...string[]];
    const root = join(this.#input.folder, `stage-${this.#stages.size}`);
    mkdirSync(root, { recursive: true });
    chmodSync(root, 0o755);
    const fill = this.#input.bases[base];
    if (base !== 'scratch' && fill === undefined) throw new Error(`FROM ${base}: not known here`);
    fill?.(root);
    this.#args = {};
    this.#image = {
      root,
      workdir: '/',
      env: {},
      user: undefined,
      entrypoint: [],
      cmd: [],
      volumes: [],
      ports: [],
    };
    this.#stages.set(name, this.#image);
  }

  #inside(image: Image, path: string): string {
    return join(image.root, isAbsolute(path) ? path : join(image.workdir, path));
  }

  #copy(words: readonly string[]): void {
    const option = (name: string) =>
      words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
    const from = option('from');
    const owner = option('chown')?.split(':').map(Number);
    const paths = words.filter((word) => !word.startsWith('--'));
    const target = paths.at(-1) ?? '';
    const sources = paths.slice(0, -1);
    const stage = from === undefined ? undefined : this.#stages.get(from);
    if (from !== undefined && stage === undefined) throw new Error(`there is no stage ${from}`);
    for (const path of sources) {
      const source =
        stage === undefined ? join(this.#input.context, path) : this.#inside(stage, path);
      const left = (file: string) =>
        stage === undefined && this.#ignored(relative(this.#input.context, file));
      if (!existsSync(source) || (source !== this.#input.context && left(source)))
        throw new Error(`COPY ${path}: it is not there, or .dockerignore leaves it out`);
      const into = target.endsWith('/') || target === '.' || sources.length > 1;
      const place = this.#inside(this.image, target);
      const destination =
        into && !statSync(source).isDirectory() ? join(place, basename(source)) : place;
      cpSync(source, destination, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (file) => file === this.#input.context || !left(file),
      });
      if (owner !== undefined && isRoot) chownSync(destination, owner[0]!, owner[1]!);
    }
  }

  #run(text: string): void {
    const { root, workdir, env, user } = this.image;
    const command = text.replaceAll(/(?<=^|[\s'"=])\/(?=[\w.@-])/g, `${root}/`);
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], {
      cwd: join(root, workdir),
      encoding: 'utf8',
      env: {
        ...this.#input.env,
        ...env,
        HOME: join(root, 'root'),
        PATH: `${join(root, 'usr', 'local', 'bin')}:/usr/bin:/bin`,
      },
      ...(isRoot ? user : {}),
    });
    if (status !== 0) throw new Error(`RUN ${text}\n${stdout}${stderr}`);
  }
}

/** Returns whether a path is ignored: of the rules in `file` that match it, or a folder above it, the last one applies. */
function ignoredBy(file: string): (path: string) => boolean {
  const rules = existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => ({ keep: line.startsWith('!'), pattern: line.replace(/^!/, '') }))
    : [];
  const isAbove = (path: string) =>
    rules.some(({ keep, pattern }) => keep && pattern.startsWith(`${path}/`));
  return (path) => {
    const parts = path.split('/');
    const places = parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
    const last = rules.findLast(({ pattern }) =>
      places.some((place) => matchesGlob(place, pattern)),
    );
    return last !== undefined && !last.keep && !isAbove(path);
  };
}
