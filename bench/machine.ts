// Machine: describes the machine of a measurement.
import { availableParallelism, cpus, totalmem } from 'node:os';

const GIB = 2 ** 30;

export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() || 'an unknown processor';
  return (
    `${availableParallelism()} cores (${model}), ${Math.round(totalmem() / GIB)} GiB of memory, ` +
    `${process.platform} ${process.arch}, Node ${process.versions.node}`
  );
}
