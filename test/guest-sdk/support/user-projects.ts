// UserProjects: an author's files, in folders outside of the repository.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BuildError, buildComponent, type Problem } from '../../../guest-sdk/compiler/index.ts';

export class UserProjects {
  readonly folder: string;
  #count = 0;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(): Promise<UserProjects> {
    return new UserProjects(await mkdtemp(join(tmpdir(), 'svc-build-')));
  }

  /** Writes the files into a new folder; returns the path of `index.ts`. */
  async write(files: Readonly<Record<string, string>>): Promise<string> {
    const own = join(this.folder, String(++this.#count));
    for (const [name, text] of Object.entries(files)) {
      const file = join(own, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    return join(own, 'index.ts');
  }

  /** Returns the problems of a build that fails. */
  async problemsOf(files: Readonly<Record<string, string>> | string): Promise<readonly Problem[]> {
    const entryFile = await this.write(typeof files === 'string' ? { 'index.ts': files } : files);
    const failure = await buildComponent({ entryFile, optimizeLevel: 0 }).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(failure instanceof BuildError))
      throw new Error('the build did not fail as it should', { cause: failure });
    return failure.problems;
  }

  /** Returns the first problem: `line:column message: help`. */
  async firstLine(source: string): Promise<string> {
    const [problem] = await this.problemsOf(source);
    return `${problem?.line}:${problem?.column} ${problemLine(problem)}`;
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}

/** Returns `message: help`. */
export function problemLine(problem: Problem | undefined): string {
  const help = problem?.help === undefined ? '' : `: ${problem.help}`;
  return `${problem?.message}${help}`;
}

export const ENTITY = `import { Code, Context, Done, Effect, EventSourcedEntity, Request, Result, ok, register } from "@svc/guest-sdk";
@data class State { n: i32 = 0; }
@data abstract class Event {}
@variant("added") class Added extends Event {}
`;
/** A query for an entity whose handlers do not matter. */
export const QUERY = '@query("get") get(s: State): State { return s; }';
/** Returns a module with one entity; its members begin on line 8. */
export const entity = (members: string, tail = 'register<Thing>();'): string =>
  `${ENTITY}@entity("thing") class Thing extends EventSourcedEntity<State, Event> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: Event): State { if (event instanceof Added) state.n += 1; return state; }
${members}
}
${tail}`;
