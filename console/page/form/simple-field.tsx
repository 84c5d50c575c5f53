// SimpleField: the field of a text, a number, a time, bytes or an enum.
import type { TypeSchema } from '@svc/contract';
import { countText } from '../view/number-text.ts';
import { visibleLine } from '../view/visible-text.ts';
import type { OfKind } from './field-frame.tsx';
import { FieldLabel, FieldProblem, TextField, TextInput } from './text-field.tsx';

export function SimpleField({
  id,
  label,
  draft,
  type,
  beside,
  problem,
  placeholder,
  onChange,
}: OfKind<'text' | 'number' | 'big'> & { readonly problem: string | undefined }) {
  const set = (text: string) => onChange({ kind: draft.kind, text });
  const shown = visibleLine(label || 'Value');
  if ('enum' in type && type.enum !== undefined)
    return (
      <div class={`field ${problem === undefined ? '' : 'is-wrong'}`}>
        <FieldLabel id={id} label={shown} />
        <div class="with-beside">
          <select
            id={id}
            value={draft.text}
            aria-invalid={problem !== undefined}
            aria-describedby={problem === undefined ? undefined : `${id}-problem`}
            onChange={(event) => set(event.currentTarget.value)}
          >
            {!type.enum.includes(draft.text) && (
              <option value={draft.text}>{draft.text === '' ? 'Choose…' : draft.text}</option>
            )}
            {type.enum.map((choice) => (
              <option key={choice} value={choice}>
                {visibleLine(choice)}
              </option>
            ))}
          </select>
          {beside}
        </div>
        {problem !== undefined && <FieldProblem id={id} problem={problem} />}
      </div>
    );
  const isTime = 'format' in type && type.format === 'date-time';
  const isBytes = 'contentEncoding' in type && type.contentEncoding !== undefined;
  const input = {
    id,
    label: shown,
    value: draft.text,
    problem,
    hint: hintOf(type),
    lines: draft.text.includes('\n') ? 4 : 1,
    isNumber: draft.kind !== 'text',
    placeholder: placeholder ?? (isTime ? '2030-01-01T00:00:00.000Z' : undefined),
    onChange: set,
  };
  if (beside === undefined && !isTime && !isBytes) return <TextField {...input} />;
  return (
    <div class={`field ${problem === undefined ? '' : 'is-wrong'}`}>
      <FieldLabel id={id} label={shown} hint={input.hint} />
      <div class="with-beside">
        <TextInput {...input} />
        {isTime && (
          <button type="button" class="quiet" onClick={() => set(new Date().toISOString())}>
            Now
          </button>
        )}
        {isBytes && <FileInput id={`${id}-file`} onBase64={set} />}
        {beside}
      </div>
      {problem !== undefined && <FieldProblem id={id} problem={problem} />}
    </div>
  );
}

/** One more than the largest 32-bit integer. The hint of a type that has all 32-bit integers names no range. */
const INT32_BOUND = 2 ** 31;

function hintOf(type: TypeSchema): string | undefined {
  if (type.description !== undefined) return visibleLine(type.description);
  if (!('type' in type)) return undefined;
  if (Array.isArray(type.type) && 'format' in type) return type.format;
  if (type.type === 'number' && 'format' in type) return type.format;
  if (type.type === 'integer' && 'minimum' in type) {
    const isWide = type.minimum <= -INT32_BOUND && type.maximum >= INT32_BOUND - 1;
    if (isWide) return 'whole number';
    return `${countText(type.minimum).replace('-', '−')} to ${countText(type.maximum)}`;
  }
  if (type.type !== 'string') return undefined;
  if (type.contentEncoding === 'base64') return 'base64';
  return type.format === 'date-time' ? 'time, in UTC' : type.format;
}

/** Displays a button for choosing a file; the browser reads the file, and `onBase64` receives it as base64. */
export function FileInput({
  id,
  onBase64,
}: {
  readonly id: string;
  readonly onBase64: (text: string) => void;
}) {
  const read = (file: File | undefined) => {
    if (file === undefined) return;
    const reader = new FileReader();
    reader.addEventListener('load', () => onBase64((reader.result as string).split(',')[1] ?? ''));
    reader.readAsDataURL(file);
  };
  return (
    <label class="quiet file" for={id}>
      From a file
      <input
        id={id}
        type="file"
        class="unseen"
        onChange={(event) => read(event.currentTarget.files?.[0])}
      />
    </label>
  );
}
