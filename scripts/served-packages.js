import { readFileSync } from 'node:fs'

const lockFile = new URL('../package-lock.json', import.meta.url)

/**
 * The packages that the service stands on, as the lock file has them: none that is for development alone.
 * @returns of each its place below the project's folder, its name, its version, and whether some machines do without it
 */
export function servedPackages() {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8'))
  return Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path, { version, optional }]) => {
      return { path, name: path.split('node_modules/').pop(), version, isOptional: optional === true }
    })
}
