/** A place that drops an error without a comment that explains why. */
export type SwallowedError = { readonly path: string; readonly line: number; readonly text: string }

const CATCH = /^(\s*)(?:\} )?catch(?: \((?<name>\w+)[^)]*\))? \{(?<rest>.*)$/
const COMMENT = /\/\/|\/\*|^\s*\*/
const PASSED_ON = /\b(?:throw|return)\b/

/** The start of a rejection or error handler. A handler that doesn't use the error needs a comment. */
const HANDLER = /\.catch\(|\.then\(\w+, (?=\()|\.(?:on|once)\('error', (?=\()/g
/** The parameters of an arrow function with at most one parameter. */
const BLIND = /^(?:async )?\(_?\w*(?:: unknown)?\) =>/
const UNREAD_OUTCOMES = /^\s*(?:await |void )?Promise\.allSettled\(/

/**
 * Every place in a module that swallows an error: a catch block without a use of the error, a throw, a return or a
 * comment; a rejection handler that doesn't use the error, and unread outcomes of Promise.allSettled, without a comment
 * on the same line or the one before. The source must be formatted by prettier.
 */
export function swallowedErrors(path: string, source: string): SwallowedError[] {
  const lines = source.split('\n')
  return lines.flatMap((text, index) => {
    const isSilent = isSilentCatch(lines, index) || (isBlind(lines, index) && !isExplained(lines, index))
    return isSilent ? [{ path, line: index + 1, text: text.trim() }] : []
  })
}

function isSilentCatch(lines: readonly string[], index: number): boolean {
  const found = CATCH.exec(lines[index] ?? '')
  if (found === null) return false
  const indent = found[1] ?? ''
  const end = lines.findIndex((line, at) => at > index && line.startsWith(`${indent}}`))
  const { name, rest = '' } = found.groups ?? {}
  const body = rest.startsWith('}') ? '' : lines.slice(index + 1, end).join('\n')
  const isUsed = name !== undefined && new RegExp(`\\b${name}\\b`).test(body)
  return !isUsed && !PASSED_ON.test(body) && !COMMENT.test(rest + body)
}

function isBlind(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? ''
  if (COMMENT.test(line.trimStart().slice(0, 2))) return false
  if (UNREAD_OUTCOMES.test(line)) return true
  return [...line.matchAll(HANDLER)].some((found) => {
    const rest = line.slice(found.index + found[0].length)
    const handler = BLIND.exec(rest)
    if (handler === null) return false
    const name = /\((\w*)/.exec(handler[0])?.[1] ?? ''
    const body = [rest.slice(handler[0].length), ...lines.slice(index + 1, endOf(lines, index, rest))].join('\n')
    return name === '' || name.startsWith('_') ? !doesSomething(body) : !new RegExp(`\\b${name}\\b`).test(body)
  })
}

/** `() => socket.destroy()` handles the error, `() => undefined` doesn't. */
const doesSomething = (body: string) => /^\s*[\w.#?]+\(/.test(body)

/** The line after a handler: the next line, or the first that is not indented further. */
function endOf(lines: readonly string[], index: number, rest: string): number {
  if (!/[{(]$/.test(rest)) return index + 1
  const indent = /^\s*/.exec(lines[index] ?? '')?.[0].length ?? 0
  return lines.findIndex((line, at) => at > index && line.trim() !== '' && line.search(/\S/) <= indent)
}

const isExplained = (lines: readonly string[], index: number) =>
  [lines[index], lines[index - 1]].some((line) => line !== undefined && COMMENT.test(line))
