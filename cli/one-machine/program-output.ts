// ProgramOutput: where the lines of the programs go: to this terminal, each with the name of its program, or to files that are rotated.
import { LogFiles } from '@svc/kit/log-files';
import { printable } from '@svc/kit/printable';
import { logFolderOf } from './machine-programs.ts';
import type { MachineLayout } from './machine-layout.ts';

export interface ProgramOutput {
  write(program: string, line: string): void;
  close(): Promise<void>;
}

/** `width`: of the longest name. */
export function terminalOutput(width: number): ProgramOutput {
  return {
    write(program, line) {
      process.stderr.write(`${program.padEnd(width)} | ${printable(line)}\n`);
    },
    close: () => Promise.resolve(),
  };
}

export function fileOutput(layout: MachineLayout): ProgramOutput {
  const files = new Map<string, LogFiles>();
  const fileOf = (program: string): LogFiles => {
    const known = files.get(program);
    if (known !== undefined) return known;
    const folder = logFolderOf(layout, program);
    const report = (text: string): void => void process.stderr.write(`${program}: ${text}\n`);
    const file = new LogFiles(folder, {
      onFailure: (error) => report(`the log cannot be written: ${String(error)}`),
      onDropped: (lines) => report(`${lines} lines of the log were lost`),
    });
    files.set(program, file);
    return file;
  };
  return {
    write: (program, line) => fileOf(program).write(`${line}\n`),
    async close() {
      await Promise.all([...files.values()].map((file) => file.close()));
    },
  };
}
