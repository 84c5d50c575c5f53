// The version of the runtime, read from the package that carries it.
import manifest from './package.json' with { type: 'json' };

export const RUNTIME_VERSION: string = manifest.version;
