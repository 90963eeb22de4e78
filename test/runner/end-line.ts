/** The line by which a process says that it is done with one of its test files, and the CPU seconds that it took. */
export const endLine = (file: string, code: number, cpu: number): string =>
  `\n<<< ${file} ended with ${code}, ${cpu.toFixed(2)} CPU s >>>\n`

export const END_LINE = /\n<<< (.+) ended with (\d+), ([\d.]+) CPU s >>>\n/
