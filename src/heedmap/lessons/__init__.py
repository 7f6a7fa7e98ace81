"""The course: lesson files with typed blocks, live numbers, exercises and their checkers."""
