# SPDX-License-Identifier: Apache-2.0
# Verilated RTL as sources of a target. Verilator runs when the target is built, so that each build does what its targets need and no more.
find_program(VERILATOR_BIN NAMES verilator_bin HINTS "$ENV{VERILATOR_ROOT}/bin" REQUIRED)
execute_process(COMMAND "${VERILATOR_BIN}" --getenv VERILATOR_ROOT OUTPUT_VARIABLE VERILATOR_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

set(verilate_script "${CMAKE_CURRENT_LIST_DIR}/verilate.py")
add_custom_target(verilated COMMENT "All Verilated")  # headers for clang-tidy

# What Verilated code needs; Verilator's sources, like those it writes, are compiled without our warnings.
function(weft_verilator_library target)
  list(TRANSFORM ARGN PREPEND "${VERILATOR_ROOT}/include/" OUTPUT_VARIABLE sources)
  add_library(${target} STATIC ${sources})
  target_compile_options(${target} PRIVATE -w)
  target_include_directories(${target} SYSTEM PUBLIC "${VERILATOR_ROOT}/include" "${VERILATOR_ROOT}/include/vltstd")
endfunction()

set(sources verilated.cpp verilated_threads.cpp)
if(WEFT_COVERAGE)
  list(APPEND sources verilated_cov.cpp)
endif()
weft_verilator_library(weft_verilated ${sources})
target_link_libraries(weft_verilated PUBLIC Threads::Threads)
weft_verilator_library(weft_verilated_fst verilated_fst_c.cpp)
target_link_libraries(weft_verilated_fst PUBLIC weft_verilated ZLIB::ZLIB)

# weft_verilate(TARGET PREFIX class TOP_MODULE module SOURCES file... [ARGS argument...] [PARTS n] [TRACE_FST] [STEPS] [SYSTEMC])
# PARTS: how many compilers can work on it at a time. STEPS: also PREFIX.steps.hpp, for tops that are stepped function by function (tb/common/steps.hpp).
function(weft_verilate target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TRACE_FST;STEPS;SYSTEMC" "PREFIX;TOP_MODULE;PARTS" "SOURCES;ARGS")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.${arg_PREFIX}")
  if(NOT arg_PARTS)
    set(arg_PARTS 1)
  endif()
  set(arguments ${arg_ARGS})
  if(NOT WEFT_COVERAGE)
    # Loops over the bits of a window are unrolled, which makes the engines a third faster; Verilator's own limit is 64.
    list(APPEND arguments --unroll-count 1024 --unroll-stmts 1000000)
  endif()
  set(library weft_verilated)
  set(definitions VM_SC=0)
  set(language --cc)
  if(arg_SYSTEMC)
    set(definitions VM_SC=1)
    set(language --sc)
  endif()
  if(arg_TRACE_FST)
    list(APPEND arguments --trace-fst)
    set(library weft_verilated_fst)
    list(APPEND definitions VM_TRACE=1 VM_TRACE_FST=1)
  endif()
  if(NOT WEFT_RTL STREQUAL "source")
    # Verilator 5.006 computes the elaborated CRC's wide XORs wrongly when it optimises trees of bit operations. Has to
    # come after -O3, which would turn that on again: so last.
    list(APPEND arguments -fno-const-bit-op-tree)
  endif()
  if(WEFT_COVERAGE)
    # -Wno-fatal: what is public is not optimised, of which Verilator then warns; all builds without coverage keep their warnings as errors.
    # Split and reordered, a counter comes after what its branch has assigned, and sees the condition as it is then; again after -O3.
    list(APPEND arguments --coverage-line -fno-split -fno-reorder -Wno-fatal "${PROJECT_SOURCE_DIR}/tests/coverage/public.vlt")
    list(APPEND definitions VM_COVERAGE=1)
  endif()

  set(steps "")
  if(arg_STEPS)
    set(steps --steps)
    list(APPEND arguments --output-split-cfuncs 1000)  # functions that fit into the processor's first cache
  endif()

  set(fast "")
  math(EXPR last "${arg_PARTS} - 1")
  foreach(part RANGE ${last})
    list(APPEND fast "${folder}/${arg_PREFIX}.fast${part}.cpp")
  endforeach()
  set(slow "${folder}/${arg_PREFIX}.slow.cpp")
  set(header "${folder}/${arg_PREFIX}.h")
  set(headers "${header}")
  if(arg_STEPS)
    list(APPEND headers "${folder}/${arg_PREFIX}.steps.hpp")
  endif()
  add_custom_command(OUTPUT ${headers} ${fast} "${slow}"
    COMMAND "${Python3_EXECUTABLE}" "${verilate_script}" ${steps} "${folder}" ${arg_PREFIX} ${arg_PARTS}
            "${PROJECT_SOURCE_DIR}" "${VERILATOR_BIN}" ${language} --top ${arg_TOP_MODULE} ${arguments} ${arg_SOURCES}
    DEPENDS "${verilate_script}" "${VERILATOR_BIN}" ${arg_SOURCES}
    DEPFILE "${folder}/${arg_PREFIX}.d"
    COMMENT "Verilating ${arg_TOP_MODULE} as ${arg_PREFIX}" VERBATIM)
  add_custom_target(verilated.${target}.${arg_PREFIX} DEPENDS "${header}")
  add_dependencies(verilated verilated.${target}.${arg_PREFIX})

  set(options -w)
  if(WEFT_FUZZ)
    list(APPEND options ${WEFT_FUZZ_FLAGS})  # the fuzzer sees which edges are taken
  endif()
  set_source_files_properties(${fast} "${slow}" PROPERTIES COMPILE_OPTIONS "${options}" COMPILE_DEFINITIONS "${definitions}")
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    set_property(SOURCE "${slow}" APPEND PROPERTY COMPILE_OPTIONS -O0)  # runs once, at the start
  endif()
  target_sources(${target} PRIVATE ${fast} "${slow}" ${headers})
  target_include_directories(${target} SYSTEM PRIVATE "${folder}")
  target_link_libraries(${target} PUBLIC ${library})
endfunction()
