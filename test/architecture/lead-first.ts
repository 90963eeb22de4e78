import { importedNames, type Source } from './exports.ts'

/** Shorter files are seen at a glance. */
const MIN_LINES = 100
const MAX_SHARE = 0.4

const EXPORT = /^export (?:async )?(?:abstract )?(?:function\*?|const|class|type|interface) (\w+)/
const LAST_IMPORT = /^(?:import |\} from )/

/**
 * Files of `folder` whose first export that another file of the folder imports stands below the first 40 % of the lines after the
 * imports, as `path: line`. A file starts with what its name promises; its helpers follow in the order of their use.
 */
export function lateLeads(sources: readonly Source[], folder: string): string[] {
  const files = sources.filter(({ path }) => path.startsWith(folder))
  const imported = new Set(files.flatMap(importedNames))
  return files.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n')
    const start = lines.findLastIndex((line) => LAST_IMPORT.test(line)) + 1
    const lead = lines.findIndex((line) => {
      const [, name] = EXPORT.exec(line) ?? []
      return name !== undefined && (imported.has(`${path}: ${name}`) || imported.has(`${path}: *`))
    })
    const isLate = lines.length >= MIN_LINES && lead - start > MAX_SHARE * (lines.length - start)
    return isLate ? [`${path}: ${lead + 1}`] : []
  })
}
