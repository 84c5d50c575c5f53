// svc auth token: prints the access token with which the commands of this user speak to an installation.
import { command, EXIT_CODE } from '../command.ts';
import { Platform } from '../platform/platform.ts';
import { printData } from '../terminal.ts';

export const authToken = command(
  {
    name: 'auth token',
    summary: 'print the access token of your login',
    about: `Prints the access token that the commands of the platform send to the installation, for a program
that needs one. A token that expires soon is renewed first.`,
    words: [],
    options: {},
    notes: `Anybody who has the token can do what you can do at the installation until it expires: send it to
nobody but the installation. The services of svc up take it, too, if their descriptors have
auth: platform.`,
    examples: [
      'curl -H "Authorization: Bearer $(svc auth token)" https://api.example.com/projects',
    ],
  },
  async () => {
    await printData(`${await Platform.open().accessToken()}\n`);
    return EXIT_CODE.ok;
  },
);
