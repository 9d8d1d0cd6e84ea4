"""The kinds of attack, in the order in which the numbers of cases go through them. A new one is a line here."""

from fuzz.absurd import absurd_values
from fuzz.cases import Maker
from fuzz.command_lines import absurd_options
from fuzz.folders import damaged_folder, folder_of_other_types
from fuzz.pages import damaged_pages
from fuzz.side_files import absurd_side_files

KINDS: tuple[Maker, ...] = (
    absurd_values,
    damaged_pages,
    damaged_folder,
    absurd_values,
    folder_of_other_types,
    absurd_side_files,
    damaged_pages,
    damaged_folder,
    absurd_values,
    absurd_options,
)
