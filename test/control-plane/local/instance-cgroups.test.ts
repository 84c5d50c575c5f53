// Control groups of instances, with plain files for those of the kernel: what is written, in which order, and what a fault leaves.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ServiceDescriptor } from '@svc/client';
import type { LogEntry } from '@svc/kit/log-entry';
import { InstanceCgroups } from '../../../control-plane/local/instance-cgroups.ts';
import type { LaunchCommand } from '../../../control-plane/local/launch-command.ts';
import { StandInCgroups } from '../../support/stand-in-cgroups.ts';

const RESOURCES = { cpu: '1500m', memory: '256Mi' };
const COMMAND: LaunchCommand = {
  file: '/bin/echo',
  args: ['$1', "it's"],
  env: {},
  sockets: { calls: 'calls' },
};
const logged: LogEntry[] = [];

beforeEach(() => {
  logged.length = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function owner(resources?: ServiceDescriptor['resources'], name = 'cart-1-00000000') {
  const descriptor = { name: 'cart', image: 'cart:1', ...(resources && { resources }) };
  return { key: { project: 'web', service: 'cart' }, name, descriptor };
}

function opened(files: StandInCgroups, machineFolder = '/machine') {
  return InstanceCgroups.open({
    cgroup: files.path,
    machineFolder,
    processesMax: 100,
    log: (entry) => logged.push(entry),
    files,
  });
}

/** Opens the groups of a machine, of which nothing was logged. */
function usable(files: StandInCgroups): InstanceCgroups {
  const cgroups = opened(files)!;
  expect(logged).toEqual([]);
  files.log.length = 0;
  return cgroups;
}

const messages = () => logged.map(({ message }) => message).join('\n');

test('an instance has a group with the limits of its descriptor, which are written before its process joins it', () => {
  const files = new StandInCgroups();
  const cgroups = usable(files);
  const command = cgroups.enclosed(owner(RESOURCES), COMMAND);
  const [group] = files.groups;
  expect(group).toMatch(/^svc-[0-9a-f]{8}\.web\.cart-1-00000000$/);
  expect(files.log).toEqual([
    'cgroup.subtree_control=+cpu',
    'cgroup.subtree_control=+memory',
    'cgroup.subtree_control=+pids',
    `${group}/pids.max=100`,
    `${group}/cpu.max=150000 100000`,
    `${group}/memory.max=268435456`,
    `${group}/memory.swap.max=0`,
    `${group}/memory.oom.group=1`,
  ]);
  const { stdout, stderr } = spawnSync(command.file, command.args, { encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: "$1 it's\n", stderr: '' });
  expect(readFileSync(join(files.path, group!, 'cgroup.procs'), 'utf8')).toBe('0\n');
  expect(cgroups.limited([owner(RESOURCES)])).toEqual(new Set(['cpu', 'memory']));
});

test('a process that cannot join its group does not execute the command, and names no path', () => {
  const files = new StandInCgroups();
  const { file, args } = usable(files).enclosed(owner(), COMMAND);
  rmSync(join(files.path, files.groups[0]!), { recursive: true });
  const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: 'its control group does not take it\n',
  });
});

test('what a descriptor does not say is not limited, except for the number of processes', () => {
  const files = new StandInCgroups();
  const cgroups = usable(files);
  cgroups.enclosed(owner({ cpu: '1m' }), COMMAND);
  expect(files.log.slice(3).map((line) => line.split('/')[1])).toEqual([
    'pids.max=100',
    'cpu.max=1000 100000',
  ]);
  expect(cgroups.limited([owner()])).toEqual(new Set(['cpu']));
});

test('a resource is limited if it is so for all instances, of which one may have been started without limits', () => {
  const cgroups = usable(new StandInCgroups());
  const other = owner(RESOURCES, 'cart-1-11111111');
  cgroups.enclosed(owner(RESOURCES), COMMAND);
  expect(cgroups.limited([owner(RESOURCES), other])).toEqual(new Set());
  cgroups.enclosed(other, COMMAND);
  expect(cgroups.limited([owner(RESOURCES), other])).toEqual(new Set(['cpu', 'memory']));
  expect(cgroups.limited([])).toEqual(new Set(['cpu', 'memory']));
});

test('the next run of an instance has an empty group, in which what is left of the last one is killed', () => {
  const files = new StandInCgroups();
  const cgroups = usable(files);
  cgroups.enclosed(owner(RESOURCES), COMMAND);
  const [group] = files.groups;
  const events = join(files.path, group!, 'memory.events');
  expect(cgroups.wasOutOfMemory(owner())).toBe(false);
  writeFileSync(events, 'oom 1\noom_kill 1\noom_group_kill 1\n');
  expect(cgroups.wasOutOfMemory(owner())).toBe(true);
  files.log.length = 0;
  cgroups.enclosed(owner(RESOURCES), COMMAND);
  expect(files.log.slice(3, 6)).toEqual([
    `${group}/cgroup.kill=1`,
    `-${group}`,
    `${group}/pids.max=100`,
  ]);
  expect(cgroups.wasOutOfMemory(owner())).toBe(false);
});

test('a group in which the last run is still ending is used again, with its limits', () => {
  const files = new StandInCgroups();
  const cgroups = usable(files);
  cgroups.enclosed(owner(RESOURCES), COMMAND);
  const [group] = files.groups;
  files.faults.set(group!, { code: 'EBUSY', times: 1 });
  files.log.length = 0;
  const { file } = cgroups.enclosed(owner({ cpu: '1' }), COMMAND);
  expect(file).toBe('/bin/sh');
  expect(files.log.slice(4)).toEqual([`${group}/pids.max=100`, `${group}/cpu.max=100000 100000`]);
  expect(logged).toEqual([]);
});

test('a group that is in use is removed once it is not, and left to the next start after ten attempts', () => {
  const files = new StandInCgroups();
  const cgroups = usable(files);
  cgroups.enclosed(owner(), COMMAND);
  const [group] = files.groups;
  files.faults.set(group!, { code: 'EBUSY', times: 9 });
  cgroups.remove(owner());
  expect(files.groups).toEqual([group]);
  vi.runAllTimers();
  expect(files.groups).toEqual([]);
  expect(files.log.at(-2)).toBe(`${group}/cgroup.kill=1`);

  cgroups.enclosed(owner(), COMMAND);
  files.faults.set(group!, { code: 'EBUSY', times: 1000 });
  cgroups.remove(owner());
  vi.runAllTimers();
  expect(files.faults.get(group!)!.times).toBe(990);
  expect(messages()).toContain('left to the next start: EBUSY');

  files.faults.clear();
  opened(files)!.sweep([]);
  expect(files.groups).toEqual([]);
});

test('nothing is removed any more after the end, and a group that is gone is none to remove', () => {
  const files = new StandInCgroups();
  const cgroups = usable(files);
  cgroups.enclosed(owner(), COMMAND);
  const [group] = files.groups;
  files.faults.set(group!, { code: 'EBUSY', times: 1 });
  cgroups.remove(owner());
  cgroups.close();
  vi.runAllTimers();
  expect(files.groups).toEqual([group]);
  cgroups.remove(owner());
  cgroups.remove(owner());
  expect(files.groups).toEqual([]);
  expect(logged).toEqual([]);
});

test('a start sweeps the groups of instances that are gone, and no others', () => {
  const files = new StandInCgroups();
  const cgroups = usable(files);
  for (const name of ['cart-1-00000000', 'cart-2-11111111'])
    cgroups.enclosed(owner(undefined, name), COMMAND);
  opened(files, '/other')!.enclosed(owner(), COMMAND);
  files.makeGroup(join(files.path, 'holder'));
  const before = files.groups;
  cgroups.sweep([owner()]);
  expect(before).toHaveLength(4);
  expect(before.filter((name) => !files.groups.includes(name))).toEqual([
    expect.stringMatching(/\.web\.cart-2-11111111$/),
  ]);
});

test('a controller that the group does not have is named once, and the others limit', () => {
  const files = new StandInCgroups(['cpu', 'pids', 'io']);
  const cgroups = opened(files)!;
  expect(messages()).toMatch(/^Some limits .*: memory \(the group does not have it\)$/);
  cgroups.enclosed(owner(RESOURCES), COMMAND);
  expect(logged).toHaveLength(1);
  expect(cgroups.limited([owner(RESOURCES)])).toEqual(new Set(['cpu']));
});

test('a limit that cannot be written is reported, and the instance runs with the others', () => {
  const files = new StandInCgroups();
  const cgroups = usable(files);
  files.faults.set('cpu.max', { code: 'EACCES', times: 1 });
  files.faults.set('memory.swap.max', { code: 'ENOENT', times: 1 });
  const { file } = cgroups.enclosed(owner(RESOURCES), COMMAND);
  expect(file).toBe('/bin/sh');
  expect(messages()).toBe('The limit cpu.max of an instance is not set: EACCES: cpu.max');
  expect(cgroups.limited([owner(RESOURCES)])).toEqual(new Set(['memory']));
});

test('an instance whose group cannot be made is started without one', () => {
  const files = new StandInCgroups();
  const cgroups = usable(files);
  cgroups.enclosed(owner(), COMMAND);
  const [group] = files.groups;
  cgroups.remove(owner());
  files.faults.set(group!, { code: 'ENOSPC', times: 2 });
  expect(cgroups.enclosed(owner(RESOURCES), COMMAND)).toBe(COMMAND);
  expect(messages()).toContain('An instance has no limits: ENOSPC');
  expect(cgroups.limited([owner(RESOURCES)])).toEqual(new Set());
});

test('controllers are given again to groups below a group that was made anew', () => {
  const files = new StandInCgroups();
  const cgroups = usable(files);
  writeFileSync(join(files.path, 'cgroup.subtree_control'), '');
  cgroups.enclosed(owner(RESOURCES), COMMAND);
  expect(cgroups.limited([owner(RESOURCES)])).toEqual(new Set(['cpu', 'memory']));
});

test.each([
  ['no group', 'it is no control group of version 2: ENOENT', 'cgroup.controllers', 'ENOENT'],
  ['one with a process', 'a process is in the group itself', 'cgroup.subtree_control', 'EBUSY'],
  ['one of another user', 'EACCES: cgroup.subtree_control', 'cgroup.subtree_control', 'EACCES'],
])('nothing is limited below %s, and the log says why', (_what, reason, file, code) => {
  const files = new StandInCgroups();
  files.faults.set(file, { code, times: 3 });
  expect(opened(files)).toBeUndefined();
  expect(logged).toHaveLength(1);
  expect(messages()).toContain(reason);
  expect(files.groups).toEqual([]);
});

test('nothing is limited if no process can be moved to a group', () => {
  const files = new StandInCgroups();
  vi.spyOn(files, 'makeGroup').mockImplementation((path) => {
    mkdirSync(path);
    // A folder takes no text, whoever writes it.
    mkdirSync(join(path, 'cgroup.procs'));
  });
  expect(opened(files)).toBeUndefined();
  expect(messages()).toContain('no process can be moved to a group below it');
});
