import { describe, expect, test } from 'vitest';
import { LiveArea } from '../../cli/dev/live-area.ts';

/** Returns the content of a screen with this many columns after the output. */
class Screen {
  readonly isTTY = true;
  readonly columns: number;
  readonly rows = 6;
  lines: string[] = [''];

  constructor(columns = 20) {
    this.columns = columns;
  }

  write(text: string): boolean {
    // oxlint-disable-next-line no-control-regex -- it is what steers a terminal
    for (const [part] of text.matchAll(/\u001b\[(\d+)A|\u001b\[0J|\u001b\[\d+m|\n|[^\u001b\n]+/g)) {
      if (part === '\n') this.lines.push('');
      else if (part.endsWith('A')) this.lines.splice(-1 - Number(part.slice(2, -1)), Infinity, '');
      else if (!part.startsWith('\u001b')) this.#type(part);
    }
    return true;
  }

  #type(text: string): void {
    const rows = text.match(new RegExp(`.{1,${this.columns}}`, 'g'))!;
    this.lines.splice(-1, 1, ...rows);
  }
}

describe('on a terminal', () => {
  test('what is shown takes the place of what was, and what is printed stands above it', () => {
    const screen = new Screen();
    const area = new LiveArea(screen);
    area.show(['compiling'], true);
    area.print(['a fault', 'its place']);
    area.show(['serving']);
    area.print(['another']);
    expect(screen.lines).toEqual(['a fault', 'its place', 'another', 'serving', '']);
  });

  test('a line that is longer than the screen is wide is taken away whole', () => {
    const screen = new Screen(10);
    const area = new LiveArea(screen);
    area.show(['0123456789abc', 'x']);
    area.show(['done']);
    expect(screen.lines).toEqual(['done', '']);
  });

  test('colours take no room, and more than the screen holds is not taken away', () => {
    const screen = new Screen(10);
    const area = new LiveArea(screen);
    area.show(['\u001b[31m0123456789\u001b[39m']);
    area.show(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    area.show(['done']);
    expect(screen.lines).toEqual(['a', 'b', 'done', '']);
  });

  test('what is left stays', () => {
    const screen = new Screen();
    const area = new LiveArea(screen);
    area.show(['stopped']);
    area.leave();
    area.show(['next']);
    expect(screen.lines).toEqual(['stopped', 'next', '']);
  });
});

test('where nothing is drawn again, lines follow one another, and what passes is left out', () => {
  const written: string[] = [];
  const area = new LiveArea({ write: (text) => written.push(text) > 0 });
  area.show(['compiling'], true);
  area.show(['serving', 'more']);
  area.print(['a fault']);
  area.print([]);
  area.show(['a warning', 'serving']);
  expect(written.join('')).toBe('serving\nmore\na fault\na warning\n');
});
