// Files of a user, in folders of their own outside of the repository.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export class UserProjects {
  readonly folder: string;
  #count = 0;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(): Promise<UserProjects> {
    return new UserProjects(await mkdtemp(join(tmpdir(), 'svc-build-')));
  }

  /** Writes the files into a folder of their own; answers the path of `index.ts`. */
  async write(files: Readonly<Record<string, string>>): Promise<string> {
    const own = join(this.folder, String(++this.#count));
    for (const [name, text] of Object.entries(files)) {
      const file = join(own, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    return join(own, 'index.ts');
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}

export const ENTITY = `import { Code, Context, Done, Effect, EventSourcedEntity, Request, Result, ok, register } from "@svc/guest-sdk";
@data class State { n: i32 = 0; }
@data abstract class Event {}
@variant("added") class Added extends Event {}
`;
/** A module with one entity; its members begin on line 8. */
export const entity = (members: string, tail = 'register<Thing>();'): string =>
  `${ENTITY}@entity("thing") class Thing extends EventSourcedEntity<State, Event> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: Event): State { return state; }
${members}
}
${tail}`;
