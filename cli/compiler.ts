// Compiler: loads the compiler of modules. An image that only serves modules does not have the compiler.
import { CommandFailure } from './command.ts';

/** Loads the compiler. `failure`: creates the error that is thrown if the compiler is missing or cannot be loaded. */
export async function loadCompiler(
  failure: (message: string, cause: unknown) => Error = (message, cause) =>
    new CommandFailure('SVC_BUILD_FAILED', message, { cause }),
): Promise<typeof import('@svc/guest-sdk/compiler')> {
  try {
    return await import('@svc/guest-sdk/compiler');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes("'@svc/guest-sdk'"))
      throw failure(
        `The compiler, @svc/guest-sdk, cannot be loaded: ${message.split('\n', 1)[0]} ` +
          'A file of its installation was changed or is missing: install the packages again (npm ci), or take back the change.',
        error,
      );
    throw failure(
      'This svc has no compiler: the package @svc/guest-sdk is not installed beside it, as in an image ' +
        'that only serves modules. Build where it is: npm install @svc/cli, then npx svc build.',
      error,
    );
  }
}
