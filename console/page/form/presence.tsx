// Presence: chooses whether a value is left out, null or present, where its type allows the choice. The three states
// look different, as they differ in the request.
import { useEffect, useRef } from 'preact/hooks';
import type { ComponentType } from 'preact';
import { emptyDraft, resolved } from './draft.ts';
import { Closed, type FieldProps } from './field-frame.tsx';

type Choice = 'left out' | 'null' | 'value';

/** `Inner` is the component `Field`, which displays the value itself; field.tsx, which imports this file, passes it. */
export function Presence({
  Inner,
  ...props
}: FieldProps & { readonly Inner: ComponentType<FieldProps> }) {
  const { id, label, schema, draft, types, leaving, onChange } = props;
  const wasOpened = useRef(false);
  const type = resolved(schema, types);
  const nullable = type !== undefined && 'anyOf' in type ? type.anyOf[0] : undefined;
  const isNull = draft.kind === 'nullable' && draft.isNull;
  const chosen: Choice = leaving?.isLeftOut === true ? 'left out' : isNull ? 'null' : 'value';
  useEffect(() => {
    if (wasOpened.current) document.getElementById(id)?.focus();
    wasOpened.current = false;
  }, [chosen]);
  const choices: readonly Choice[] = [
    ...(leaving === undefined ? [] : (['left out'] as const)),
    ...(nullable === undefined ? [] : (['null'] as const)),
    'value',
  ];
  const held = draft.kind === 'nullable' ? draft.value : undefined;
  const inner = nullable === undefined ? draft : (held ?? emptyDraft(nullable, types));
  const choose = (choice: Choice) => {
    if (choice === chosen) return;
    wasOpened.current = choice === 'value';
    if (choice === 'left out') leaving?.leaveOut();
    else if (nullable === undefined) onChange(draft);
    else onChange({ kind: 'nullable', isNull: choice === 'null', value: inner });
  };
  const beside = (
    <>
      <span class="switch presence" role="group" aria-label={`${label || 'Value'} is sent as`}>
        {choices.map((choice) => (
          <button
            key={choice}
            type="button"
            aria-pressed={choice === chosen}
            aria-label={`${label || 'Value'}: ${choice}`}
            onClick={() => choose(choice)}
          >
            {choice}
          </button>
        ))}
      </span>
      {props.beside}
    </>
  );
  const defaultText = leaving?.defaultText;
  if (chosen !== 'value') {
    const hint =
      chosen === 'left out' && defaultText !== undefined ? `default: ${defaultText}` : undefined;
    return <Closed label={label} hint={hint} beside={beside} />;
  }
  return (
    <Inner
      {...props}
      leaving={undefined}
      placeholder={'text' in inner ? defaultText : undefined}
      schema={nullable ?? schema}
      draft={inner}
      beside={beside}
      onChange={(value) =>
        onChange(nullable === undefined ? value : { kind: 'nullable', isNull: false, value })
      }
    />
  );
}
