// The published form of a source: the same code at the same positions, without types.
import { describe, expect, test } from 'vitest';
import { javascriptOf, renamed } from '../../scripts/published-javascript.ts';

const compiled = new Set(['main.ts', 'shard.ts', 'model/entity.ts']);
const published = (code: string, file = 'main.ts') => renamed(code, file, compiled);

describe('a published source', () => {
  test('names other sources by what they have become, whatever way it names them', () => {
    expect(published(`import { a } from './shard.ts';`)).toBe(`import { a } from './shard.js';`);
    expect(published(`import {\n  a,\n} from "./shard.ts";`)).toBe(
      `import {\n  a,\n} from "./shard.js";`,
    );
    expect(published(`import './shard.ts';`)).toBe(`import './shard.js';`);
    expect(published(`export * from './model/entity.ts';`)).toBe(
      `export * from './model/entity.js';`,
    );
    expect(published(`await import('./shard.ts')`)).toBe(`await import('./shard.js')`);
    expect(published(`new Worker(new URL('./shard.ts', import.meta.url))`)).toBe(
      `new Worker(new URL('./shard.js', import.meta.url))`,
    );
    expect(published(`import.meta.resolve(\n  '../shard.ts')`, 'model/entity.ts')).toBe(
      `import.meta.resolve(\n  '../shard.js')`,
    );
  });

  test('leaves alone what is published as TypeScript, and text that only looks like a name', () => {
    for (const code of [
      `new URL('../assembly/index.ts', import.meta.url)`,
      `import { x } from '@svc/contract';`,
      `const usage = 'svc build main.ts';`,
      `write(\`import "./\${name}.ts";\`)`,
    ])
      expect(published(code, 'model/entity.ts')).toBe(code);
  });

  test('is refused when it names a source in a way that is not understood', () => {
    expect(() => published(`const file = './shard.ts';`)).toThrow(
      /main\.ts names \.\/shard\.ts, which is not published/,
    );
    expect(() => published('open(`./shard.ts`)')).toThrow(/shard\.ts/);
  });

  test('keeps every line and column, and loses the blanks that types leave at the end of lines', () => {
    const source =
      'interface A {\n  a: string;\n}\nconst f = (a: A): string =>\n  a.a;\nconst t = `x  \n`;\nf({ a: t as string });\n';
    const result = javascriptOf(source, 'main.ts', compiled);
    const lines = result.split('\n');
    expect(lines.slice(0, 3)).toEqual(['', '', '']);
    expect(lines[5]).toBe('const t = `x  ');
    expect(lines[6]!.indexOf('}')).toBe(source.split('\n')[6]!.indexOf('}'));
    expect(result.includes('string')).toBe(false);
  });
});
