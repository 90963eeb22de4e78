/** The line that a process prints when one of its test files has ended, with the CPU seconds of the file. */
export const endLine = (file: string, code: number, cpu: number): string =>
  `\n<<< ${file} ended with ${code}, ${cpu.toFixed(2)} CPU s >>>\n`

export const END_LINE = /\n<<< (.+) ended with (\d+), ([\d.]+) CPU s >>>\n/
