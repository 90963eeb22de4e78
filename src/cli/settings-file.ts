import { readFileSync } from 'node:fs'
import * as tls from 'node:tls'
import { BadUsage } from '../maintenance/operation.ts'
import { note } from './output.ts'

/**
 * Sets the variables of settings files in the environment of this process, for commands beside a service that systemd starts
 * with the same files. A later file takes precedence over an earlier one, and the environment over all of them.
 * @param files paths; after a `-`, as in `-/etc/adamant.env`, the file may be missing
 * @throws BadUsage if a file can't be read
 */
export function loadSettingsFiles(files: readonly string[], environment: NodeJS.ProcessEnv): void {
  const variables = new Map(files.flatMap((file) => [...variablesOf(file)]))
  for (const [name, value] of variables) {
    if (environment[name] !== undefined) continue
    environment[name] = value
    if (name === 'NODE_EXTRA_CA_CERTS' && value !== '') trustCertificates(value)
  }
}

function variablesOf(file: string): Map<string, string> {
  const path = file.replace(/^-/, '')
  const { variables, faults } = parseSettings(textOf(path, path !== file))
  for (const { line, fault } of faults) note(`adamant: ${path}:${line} ${fault}, as by systemd`)
  return variables
}

function textOf(path: string, mayBeMissing: boolean): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && mayBeMissing) return ''
    const remedy = code === 'EACCES' ? 'run the command as root, or as a user who may read the file' : message
    throw new BadUsage(`The settings in ${path} can't be read: ${remedy}`)
  }
}

/** Node reads this variable only at its start, when the file had not been read. */
function trustCertificates(path: string): void {
  if (!('setDefaultCACertificates' in tls)) {
    return note(
      `adamant: Node ${process.versions.node} reads NODE_EXTRA_CA_CERTS only from the environment; 22.19 also reads it here`,
    )
  }
  tls.setDefaultCACertificates([...tls.getCACertificates(), readFileSync(path, 'utf8')])
}

/** What a settings file contains. Faults do not quote their lines, which may be part of a key. */
type SettingsFile = {
  readonly variables: Map<string, string>
  readonly faults: readonly { readonly line: number; readonly fault: string }[]
}

/**
 * Parses the text of a file as systemd does for `EnvironmentFile=`: systemd.exec(5), and `parse_env_file_internal` in
 * src/basic/env-file.c, which the page describes incompletely. Unlike in a shell, `$`, `&`, `;`, `<` and, after the first
 * character of a line, `#` are ordinary characters.
 */
export function parseSettings(text: string): SettingsFile {
  const variables = new Map<string, string>()
  const faults: { line: number; fault: string }[] = []
  for (const { 1: given, 2: quoted = '', 3: bare, indices } of text.matchAll(LINE)) {
    if (given === undefined) continue
    const addFault = (fault: string) =>
      faults.push({ line: text.slice(0, indices?.[1]?.[0]).split('\n').length, fault })
    const name = given.trimEnd()
    if (bare === undefined) addFault('is not NAME=VALUE; ignored')
    else if (!/^[A-Za-z_]\w*$/.test(name)) addFault('does not begin with the name of a variable; ignored')
    else {
      variables.set(name, valueOf(quoted, bare))
      if (!CLOSED.test(quoted)) addFault('has a quote that is not closed; the value ends with the file')
    }
  }
  return { variables, faults }
}

/**
 * A comment, or a name with `=`, strings in quotes, and the rest of the value. The rest may contain quotes, and line ends
 * after a backslash. Quotes that are not closed end with the file.
 */
const LINE =
  /[ \t\r\n]*(?:[#;][^\r\n]*|([^\r\n][^=\r\n]*)(?:=((?:[ \t]|'[^']*(?:'|$)|"(?:\\[^]|[^"\\])*(?:"|\\?$))*)((?:\\(?:[^]|$)|[^\\\r\n])*))?)/dg

/** Strings in quotes that are all closed. */
const CLOSED = /^(?:[ \t]|'[^']*'|"(?:\\[^]|[^"\\])*")*$/

const QUOTED = /'([^']*)'?|"((?:\\[^]|[^"\\])*)["\\]?/g

function valueOf(quoted: string, bare: string): string {
  const strings = Array.from(quoted.matchAll(QUOTED), ([, single, double = '']) => single ?? unescapeDouble(double))
  return strings.join('') + unescapeBare(bare)
}

/** In double quotes, a backslash stands for itself unless the next character is special in a shell, or a line end. */
const unescapeDouble = (text: string) =>
  text.replace(/\\([^])/g, (both, next: string) => (next === '\n' ? '' : '"\\`$'.includes(next) ? next : both))

/** Without blanks at the end, unless they follow a backslash. */
const unescapeBare = (text: string) =>
  text
    .replace(/((?:\\[^]|[^\\])*?)[ \t]*$/, '$1')
    .replace(/\\([^]?)/g, (_both, next: string) => (/[\r\n]/.test(next) ? '' : next))
