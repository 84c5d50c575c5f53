// The version of svc, read from the package that carries it.
import manifest from './package.json' with { type: 'json' };

export const version: string = manifest.version;
