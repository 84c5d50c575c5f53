// The files of sockets for calls, and the setting of their folder.
import { expect, test } from 'vitest';
import {
  callSocketFile,
  projectSocketsFolder,
  readSocketsFolder,
  SOCKET_PATH_BYTES_MAX,
  SOCKETS_FOLDER_BYTES_MAX,
} from '../../kit/call-sockets.ts';
import { SettingsReader } from '../../kit/settings-reader.ts';

const NAME = 'svc.calls.sockets-folder';
const read = (folder?: string) =>
  readSocketsFolder(
    new SettingsReader(new Map(folder === undefined ? [] : [[NAME, folder]]), {}),
    NAME,
  );

test('a socket is named after the address and the port of its instance, in the folder of its project', () => {
  const folder = projectSocketsFolder('/m', 'shop');
  expect(folder).toMatch(/^\/m\/[0-9a-f]{16}$/);
  expect(projectSocketsFolder('/m', 'bank')).not.toBe(folder);
  expect(callSocketFile('/m', 'shop', { host: '127.83.0.1', port: 9000 })).toBe(
    `${folder}/127.83.0.1-9000.sock`,
  );
  expect(callSocketFile('/m', 'shop', { host: 'fd00::1', port: 1 })).toBe(
    `${folder}/fd00::1-1.sock`,
  );
});

test('the setting of the folder is an absolute path, or none', () => {
  expect(read()).toBeUndefined();
  expect(read('sockets')).toBe(`${process.cwd()}/sockets`);
});

test('a folder in which the path of a socket would be too long is refused', () => {
  const longest = `/é${'e'.repeat(SOCKETS_FOLDER_BYTES_MAX - 3)}`;
  const socket = callSocketFile(read(longest)!, 'shop', { host: '255.255.255.255', port: 65_535 });
  expect(Buffer.byteLength(socket)).toBe(SOCKET_PATH_BYTES_MAX);
  expect(() => read(`${longest}e`)).toThrow(
    expect.objectContaining({
      code: 'SVC_SETTING_INVALID',
      message: expect.stringContaining('at most 63 bytes'),
    }),
  );
});
