// MachineSweep: removes what work that was cut off has left in the folder of a machine, and modules that nothing uses any more.
//
// Invariants
// S1  Only files are removed whose names an orchestrator gives. Data of services is never touched.
// S2  Whatever a record or an instance names stays.
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { InstanceFolder } from './instance-folder.ts';
import { sweepSockets } from './instance-sockets.ts';
import type { ServiceRecord } from './service-record.ts';

const MODULE = /^[0-9a-f]{64}\.wasm(?:\.[0-9a-f]+\.new)?$/;
const INSTANCE = /^(.+)-\d+-[0-9a-f]{8}$/;

/** Removes modules, and files of modules whose writing was cut off. Nobody may be reading an image meanwhile. */
export function sweepModules(folder: string, records: readonly ServiceRecord[]): void {
  const instances = InstanceFolder.readAll(join(folder, 'instances'));
  const used = new Set([
    ...records.flatMap(({ image, formerImage }) => [image?.moduleFile, formerImage?.moduleFile]),
    ...instances.map(({ spec }) => spec.moduleFile),
  ]);
  const names = new Set([...used].map((file) => (file === undefined ? '' : basename(file))));
  for (const name of namesIn(join(folder, 'modules')))
    if (MODULE.test(name) && !names.has(name))
      rmSync(join(folder, 'modules', name), { force: true });
}

/** Returns the folders of the images whose files a service or an instance uses. */
export function usedImages(folder: string, records: readonly ServiceRecord[]): ReadonlySet<string> {
  const instances = InstanceFolder.readAll(join(folder, 'instances'));
  const folders = [
    ...records.flatMap(({ image, formerImage }) => [image?.imageFolder, formerImage?.imageFolder]),
    ...instances.map(({ spec }) => spec.imageFolder),
  ];
  return new Set(folders.filter((path) => path !== undefined));
}

/** Removes what a control plane has left that was killed while it wrote or removed. No instance may be about to be made. */
export function sweepLeftOvers(folder: string): void {
  for (const project of foldersIn(join(folder, 'services'))) {
    removeUnfinished(project);
    removeIfEmpty(project);
  }
  for (const project of foldersIn(join(folder, 'instances'))) {
    for (const service of foldersIn(project)) {
      for (const instance of foldersIn(service)) {
        const isMade = existsSync(join(instance, 'spec.json'));
        const isOurs = INSTANCE.exec(basename(instance))?.[1] === basename(service);
        if (!isMade && isOurs) rmSync(instance, { recursive: true, force: true });
        else if (isMade) removeUnfinished(instance);
      }
      removeIfEmpty(service);
    }
    removeIfEmpty(project);
  }
  const sockets = join(folder, 'sockets');
  const instances = InstanceFolder.readAll(join(folder, 'instances'));
  if (existsSync(sockets))
    sweepSockets(
      sockets,
      instances.map(({ spec }) => spec),
    );
}

/** Removes files that would have replaced others. */
function removeUnfinished(folder: string): void {
  for (const name of namesIn(folder))
    if (name.endsWith('.json.new')) rmSync(join(folder, name), { force: true });
}

function foldersIn(folder: string): readonly string[] {
  return entriesIn(folder)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name));
}

function namesIn(folder: string): readonly string[] {
  return entriesIn(folder).map(({ name }) => name);
}

function entriesIn(folder: string) {
  return existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
}

function removeIfEmpty(folder: string): void {
  if (entriesIn(folder).length === 0) rmdirSync(folder);
}
