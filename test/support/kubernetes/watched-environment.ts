// WatchedEnvironment: the environment of a container, which notes which of its variables a program asks for.
import type { Container } from './read-manifests.ts';

/** Returns the environment as a node sets it: `$$` is one dollar sign, and what comes from the pod is its address. */
export function containerEnvironment({ env = [] }: Pick<Container, 'env'>): Record<string, string> {
  return Object.fromEntries(
    env.map(({ name, value }) => [name, value?.replaceAll('$$', () => '$') ?? '10.0.0.7']),
  );
}

export class WatchedEnvironment {
  readonly asked = new Set<string>();
  readonly env: Record<string, string>;
  readonly #names: readonly string[];

  constructor(container: Pick<Container, 'env'>) {
    const env = containerEnvironment(container);
    this.#names = Object.keys(env);
    const { asked } = this;
    this.env = new Proxy(env, {
      get: (variables, name: string) => {
        asked.add(name);
        return variables[name];
      },
    });
  }

  /** Variables of the container that nobody has asked for. */
  get unread(): readonly string[] {
    return this.#names.filter((name) => !this.asked.has(name));
  }
}
