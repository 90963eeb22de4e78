import { catalogue } from '../../events/catalogue.ts'
import { BadUsage } from '../failure.ts'
import { printResult, type OutputOptions } from '../output.ts'

type Asked = OutputOptions & { readonly type?: readonly string[] }

/**
 * `events --schema`: every type of event there is, with the JSON Schema of its payload. It needs no installation.
 * @throws BadUsage where events are asked for beside it
 */
export function printCatalogue(stream: string | undefined, { json, type, ...others }: Asked): void {
  const [other] = Object.keys(others).filter((name) => name !== 'schema' && name !== 'from')
  if (stream !== undefined || other !== undefined) {
    const what = other === undefined ? stream : `--${other}`
    throw new BadUsage(`--schema prints what events there may be, of these types or of all: leave out ${what}`)
  }
  const found = catalogue(type)
  printResult({ ...(json && { json }) }, found, JSON.stringify(found, null, 2))
}
