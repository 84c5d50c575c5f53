// The version of the runtime, read from the host's package.json.
import manifest from './package.json' with { type: 'json' };

export const RUNTIME_VERSION: string = manifest.version;
