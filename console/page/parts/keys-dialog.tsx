// KeysDialog: the list of keyboard shortcuts, and the switch for single letters.
import { useEffect, useRef } from 'preact/hooks';
import { KEYS, keysAreShown, lettersAreOn, switchLetters } from '../keys.ts';

export function KeysDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isShown = keysAreShown.value;
  useEffect(() => {
    if (isShown && !dialog.current?.open) dialog.current?.showModal();
    if (!isShown) dialog.current?.close();
  }, [isShown]);
  return (
    <dialog
      ref={dialog}
      class="keys"
      aria-labelledby="keys-title"
      onClose={() => (keysAreShown.value = false)}
    >
      <form method="dialog">
        <h2 id="keys-title">Keys</h2>
        <dl>
          {KEYS.map(([key, meaning]) => (
            <div key={key}>
              <dt>
                {key.split(' ').map((one) => (
                  <kbd key={one}>{one}</kbd>
                ))}
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <label class="check">
          <input
            type="checkbox"
            checked={lettersAreOn.value}
            onChange={(event) => switchLetters(event.currentTarget.checked)}
          />
          Single-letter keys are on
        </label>
        <div class="actions">
          <button class="primary">Close</button>
        </div>
      </form>
    </dialog>
  );
}
