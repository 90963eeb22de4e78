// Compiles assembly/ to WebAssembly, and writes it as base64 to a JSON file that the TypeScript sources import, as the compiler copies JSON to
// dist/. The same sources give the same bytes. An argument names another file to write.
import { writeFileSync } from 'node:fs'
import { main } from 'assemblyscript/asc'

const output = process.argv[2] ?? new URL('../src/optics/light/tracer.json', import.meta.url)
// All memory is static: no garbage collector, and no errors to report.
const options = ['-O3', '--noAssert', '--runtime', 'stub', '--use', 'abort=', '--enable', 'simd,relaxed-simd']

let code
const { error, stderr } = await main(['assembly/tracer.ts', ...options, '--outFile', 'tracer.wasm'], {
  writeFile: (_name, contents) => {
    code = contents
  },
})
if (error) throw new Error(stderr.toString(), { cause: error })
writeFileSync(output, `${JSON.stringify({ wasm: Buffer.from(code).toString('base64') })}\n`)
