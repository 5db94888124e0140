#%Module1.0
# Straightway for `module load`, of Environment Modules 4 or later and of Lmod.
#
# An installation has this file as PREFIX/share/modulefiles/straightway/VERSION:
#
#     module use PREFIX/share/modulefiles
#     module load straightway
#
# The prefix is found from the file's own place. A site that copies the file
# into a folder of its own names the prefix here, in place of the next four lines.
set prefix [file normalize $ModulesCurrentModulefile]
foreach folder {straightway modulefiles share prefix} {
    set prefix [file dirname $prefix]
}

conflict straightway
module-whatis "Faster MPI inside a node, on programs as they are"
proc ModulesHelp {} {
    puts stderr "mpirun -n 8 straightway run ./app"
    puts stderr "straightway --help; man straightway"
}

prepend-path PATH $prefix/bin
prepend-path MANPATH $prefix/share/man
prepend-path CPATH $prefix/include
prepend-path PKG_CONFIG_PATH $prefix/share/pkgconfig
prepend-path CMAKE_PREFIX_PATH $prefix
# An installation without a Python of its own (pip install --prefix).
if {![file exists $prefix/bin/python3]} {
    foreach folder [glob -nocomplain $prefix/lib/python3*/site-packages] {
        prepend-path PYTHONPATH $folder
    }
}
